//! The program: parse, hand over, exit code.

fn main() -> std::process::ExitCode {
    pi_sql::cli::run(&std::env::args_os().collect::<Vec<_>>())
}
