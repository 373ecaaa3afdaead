# The image: what container/pack.sh makes of the program, and nothing else.
{
  runCommand,
  gnutar,
  coreutils,
  findutils,
  program,
  name,
  version,
  architecture,
  revision,
  epoch,
}:

runCommand "${name}-${version}-${architecture}.tar"
  {
    nativeBuildInputs = [ gnutar coreutils findutils ];
    # What whoever packs it again must know.
    inherit revision;
    epoch = toString epoch;
    # A static program drags nothing of the store along; this is where that is held.
    allowedReferences = [ ];
  }
  ''
    sh ${../pack.sh} "$out" ${program} ${../../.pi} ${version} ${architecture} "$revision" "$epoch"
  ''
