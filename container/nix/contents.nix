# The image holds exactly these files, with these owners and rights.
{ runCommand, gnutar, coreutils, gnused, gawk, diffutils, image }:

runCommand "contents"
  { nativeBuildInputs = [ gnutar coreutils gnused gawk diffutils ]; }
  ''
    mkdir archive
    tar -xf ${image} -C archive
    layer=$(sed 's/.*"Layers":\["\([^"]*\)"\].*/\1/' archive/manifest.json)
    tar -tvf "archive/$layer" --numeric-owner | awk '{ print $1, $2, $6, $7, $8 }' | sed 's/ *$//' > found
    diff ${../contents.txt} found
    touch "$out"
  ''
