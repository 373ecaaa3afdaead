# What working on pi-sql takes.
{ mkShell, cargo, rustc, clippy, rustfmt, shellcheck, glibc ? null }:

mkShell {
  packages = [ cargo rustc clippy rustfmt shellcheck ];
  buildInputs = if glibc == null then [ ] else [ glibc.static ];
}
