{
  description = "pi-sql: answers questions over a read-only SQLite replica, from one static binary in a read-only image";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      cargo = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).package;
      # Nix's names of systems, and what images and Rust call them.
      systems = {
        x86_64-linux = {
          architecture = "amd64";
          target = "x86_64-unknown-linux-gnu";
        };
        aarch64-linux = {
          architecture = "arm64";
          target = "aarch64-unknown-linux-gnu";
        };
      };
      each = f: builtins.mapAttrs (system: pkgs: f pkgs systems.${system}) (builtins.intersectAttrs systems nixpkgs.legacyPackages);
      # Only what cargo reads, so that a word in a document doesn't build the program anew.
      source = builtins.path {
        name = "${cargo.name}-source";
        path = ./.;
        filter =
          path: _:
          let
            inside = builtins.substring (builtins.stringLength (toString ./.) + 1) (-1) path;
            top = builtins.head (builtins.split "/" inside);
          in
          builtins.elem top [ ".cargo" ".pi" "Cargo.lock" "Cargo.toml" "benches" "examples" "scripts" "src" "tests" ];
      };
      common = { inherit (cargo) name version; };
      epoch = self.lastModified or 1;
      packagesFor =
        pkgs: system: rec {
          default = pkgs.callPackage ./container/nix/package.nix (common // { inherit (system) target; inherit epoch; src = source; });
          image = pkgs.callPackage ./container/nix/image.nix (
            common
            // {
              inherit (system) architecture;
              inherit epoch;
              program = "${default}/bin/${cargo.name}";
              revision = self.rev or "dirty";
            }
          );
          sbom = pkgs.callPackage ./container/nix/sbom.nix (common // { program = default; });
        };
    in
    {
      packages = each packagesFor;

      overlays.default = final: _: {
        pi-sql = (packagesFor final systems.${final.stdenv.hostPlatform.system}).default;
      };

      nixosModules.default = import ./container/nix/module.nix self;

      checks = each (
        pkgs: system:
        let
          built = packagesFor pkgs system;
        in
        {
          inherit (built) image sbom;
          contents = pkgs.callPackage ./container/nix/contents.nix { inherit (built) image; };
          module = pkgs.callPackage ./container/nix/module-test.nix { inherit self; };
        }
      );

      devShells = each (
        pkgs: _: {
          default = pkgs.callPackage ./container/nix/shell.nix { };
        }
      );
    };
}
