{
  description = "Stands in for nixpkgs, made of the tools of this host: builds the flake really, in a sandbox, without a network";

  outputs =
    { self }:
    let
      # scripts/test-nix names them: where the compiler is, and where the crates are.
      toolchain = builtins.getEnv "PI_SQL_TOOLCHAIN";
      crates = builtins.getEnv "PI_SQL_CRATES";

      packages =
        system: target:
        let
          runCommand =
            name: env: script:
            derivation (
              {
                inherit name system script;
                builder = "/bin/sh";
                args = [ "-euc" ''eval "$script"'' ];
                PATH = "/usr/local/bin:/usr/bin:/bin";
              }
              // builtins.removeAttrs env [ "nativeBuildInputs" ]
            );
          onPath = name: runCommand name { } ''mkdir "$out"'';

          # The crates of Cargo.lock out of this host's cache, each held to its checksum.
          vendor =
            lockFile:
            let
              locked = builtins.filter (package: package ? checksum) (builtins.fromTOML (builtins.readFile lockFile)).package;
              list = builtins.concatStringsSep "\n" (map (package: "${package.checksum} ${package.name}-${package.version}") locked);
            in
            runCommand "vendor" { inherit list; passAsFile = [ "list" ]; } ''
              mkdir "$out"
              while read -r sum crate || [ -n "$crate" ]; do
                file=$(ls ${crates}/*/"$crate.crate")
                echo "$sum  $file" | sha256sum --check --quiet
                tar -xzf "$file" -C "$out"
                printf '{"files":{},"package":"%s"}' "$sum" > "$out/$crate/.cargo-checksum.json"
              done < "$listPath"
            '';
        in
        rec {
          inherit system runCommand;
          lib = import ./lib.nix;
          callPackage =
            file: arguments:
            let
              function = import file;
            in
            function (builtins.intersectAttrs (builtins.functionArgs function) (packages system target) // arguments);
          stdenv.hostPlatform.system = system;

          gnutar = onPath "gnutar";
          coreutils = onPath "coreutils";
          findutils = onPath "findutils";
          gnused = onPath "gnused";
          gawk = onPath "gawk";
          diffutils = onPath "diffutils";
          shellcheck = onPath "shellcheck";
          cargo = onPath "cargo";
          rustc = onPath "rustc";
          clippy = onPath "clippy";
          rustfmt = onPath "rustfmt";
          mkShell = environment: runCommand "shell" { inputs = environment.packages; } ''touch "$out"'';

          rustPlatform.buildRustPackage =
            {
              pname,
              version,
              src,
              cargoLock,
              RUSTFLAGS,
              postInstall,
              ...
            }:
            runCommand "${pname}-${version}" { inherit src target RUSTFLAGS postInstall; vendored = vendor cargoLock.lockFile; } ''
              cp -r "$src" source
              chmod -R u+w source
              cd source
              export HOME=$PWD CARGO_HOME=$PWD/.cargo-home CARGO_TARGET_DIR=$PWD/target
              mkdir "$CARGO_HOME"
              printf '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "%s"\n' "$vendored" > "$CARGO_HOME/config.toml"
              export PATH=${toolchain}/bin:$PATH
              export CFLAGS="-ffile-prefix-map=$PWD=/src -ffile-prefix-map=$vendored=/cargo"
              export RUSTFLAGS="$RUSTFLAGS --remap-path-prefix=$PWD=/src --remap-path-prefix=$vendored=/cargo"
              cargo build --release --frozen --target "$target"
              mkdir -p "$out/bin"
              install -m 0555 "target/$target/release/${pname}" "$out/bin/${pname}"
              eval "$postInstall"
            '';
        };
    in
    {
      legacyPackages = builtins.mapAttrs packages {
        x86_64-linux = "x86_64-unknown-linux-gnu";
        aarch64-linux = "aarch64-unknown-linux-gnu";
      };
    };
}
