# The program: one static binary, and beside it what it is made of (SBOM, licences) and its systemd units.
{
  rustPlatform,
  glibc ? null,
  nukeReferences ? null,
  src,
  name,
  version,
  target,
  epoch,
}:

let
  present = builtins.filter (package: package != null);
in
rustPlatform.buildRustPackage {
  pname = name;
  inherit version src;
  cargoLock.lockFile = ../../Cargo.lock;
  # Static glibc has its archives in an output of its own.
  buildInputs = if glibc == null then [ ] else [ glibc.static ];
  nativeBuildInputs = present [ nukeReferences ];
  # nixpkgs gives each target flags of its own, which shut out those of .cargo/config.toml. The variable beats both.
  RUSTFLAGS = builtins.concatStringsSep " " (builtins.fromTOML (builtins.readFile ../../.cargo/config.toml)).build.rustflags;
  # The SBOM tells more, and the same program comes out without Nix.
  auditable = false;
  # Tests need an engine, a kernel and time; scripts/test runs them.
  doCheck = false;
  postInstall = ''
    mkdir -p "$out/share/doc/${name}" "$out/lib/systemd/system"
    sh scripts/sbom ${target} ${toString epoch} > "$out/share/doc/${name}/${name}.cdx.json"
    sh scripts/licences ${target} > "$out/share/doc/${name}/LICENCES"
    cp ${../systemd/pi-sql.service} "$out/lib/systemd/system/pi-sql.service"
    cp ${../systemd/pi-sql.timer} "$out/lib/systemd/system/pi-sql.timer"
  '';
  # A static glibc carries paths of its own store entry (locales, gconv) that nothing here ever opens.
  postFixup = if nukeReferences == null then "" else ''
    nuke-refs "$out/bin/${name}"
  '';
  meta = {
    description = "Answers questions over a read-only SQLite replica, with a receipt for every query";
    mainProgram = name;
  };
}
