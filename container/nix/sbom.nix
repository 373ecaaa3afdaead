# What the program is made of, as CycloneDX.
{ runCommand, coreutils, program, name, version }:

runCommand "${name}-${version}.cdx.json" { nativeBuildInputs = [ coreutils ]; allowedReferences = [ ]; } ''
  cp ${program}/share/doc/${name}/${name}.cdx.json "$out"
''
