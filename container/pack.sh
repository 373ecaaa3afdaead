#!/bin/sh
# Packs the static program into an image archive: a docker-archive that is an OCI layout at the same time.
# The same inputs give the same bytes, within Nix and without. Needs a POSIX shell, GNU tar and coreutils.
#
#   pack.sh OUT PROGRAM PI_DIRECTORY VERSION ARCHITECTURE REVISION EPOCH
#
# OUT is the archive to write, PI_DIRECTORY the defaults (.pi) to lay open in it, ARCHITECTURE an OCI name (amd64,
# arm64), EPOCH the time of every file, in seconds. Prints the image's two digests: its ID in a classic engine, and that
# of its manifest, which engines with a containerd store show as the ID.
set -eu
[ $# -eq 7 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
out=$1 program=$2 pi=$3 version=$4 architecture=$5 revision=$6 epoch=$7
name='pi-sql'
# The user of the “distroless” images: no account of any host has it.
user=65532

LC_ALL=C TZ=UTC0
export LC_ALL TZ
umask 022
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# The root file system: one program, two text files that name its user, the defaults, and two mount points. No shell, no
# interpreter, no library, no certificates (the program brings its roots; mount a file of your own for others).
root=$work/root
mkdir -p "$root/etc" "$root/data" "$root/work/sql-output"
cp "$program" "$root/$name"
printf '%s:x:%d:%d::/work:/sbin/nologin\n' "$name" "$user" "$user" >"$root/etc/passwd"
printf '%s:x:%d:\n' "$name" "$user" >"$root/etc/group"
cp -R "$pi" "$root/work/.pi"
find "$root" -type d -exec chmod 0555 {} +
find "$root" -type f -exec chmod 0444 {} +
chmod 0555 "$root/$name"
# The only place the program's user may write; a fresh named volume takes owner and mode from it.
chmod 0700 "$root/work/sql-output"

pack() {
    tar --format=ustar --sort=name --mtime="@$epoch" --numeric-owner "$@"
}
(cd "$root" && pack --owner=0 --group=0 --exclude=work/sql-output -cf "$work/layer" data etc "$name" work)
(cd "$root" && pack --owner="$user" --group="$user" -rf "$work/layer" work/sql-output)

digest() { sha256sum <"$1" | cut -d ' ' -f 1; }
size() { wc -c <"$1" | tr -d ' '; }
layer=$(digest "$work/layer")
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
labels="\"org.opencontainers.image.title\":\"$name\",\
\"org.opencontainers.image.description\":\"Answers questions over a read-only SQLite replica, with a receipt for every query\",\
\"org.opencontainers.image.version\":\"$version\",\
\"org.opencontainers.image.revision\":\"$revision\",\
\"org.opencontainers.image.created\":\"$created\",\
\"org.opencontainers.image.licenses\":\"Apache-2.0 OR MIT\""

# Nanoseconds, as engines want them. A health check is exec form: there is no shell to run anything else.
cat >"$work/config" <<END
{"architecture":"$architecture","os":"linux","created":"$created","config":{"User":"$user:$user","WorkingDir":"/work","Entrypoint":["/$name"],"Env":["PI_SQL_DB=/data/analytics.db","PI_SQL_OUT=/work/sql-output"],"Healthcheck":{"Test":["CMD","/$name","health"],"Interval":60000000000,"Timeout":10000000000,"StartPeriod":10000000000,"Retries":3},"Labels":{$labels}},"rootfs":{"type":"layers","diff_ids":["sha256:$layer"]},"history":[{"created":"$created","created_by":"container/pack.sh"}]}
END
config=$(digest "$work/config")
oci=application/vnd.oci.image
cat >"$work/manifest" <<END
{"schemaVersion":2,"mediaType":"$oci.manifest.v1+json","config":{"mediaType":"$oci.config.v1+json","digest":"sha256:$config","size":$(size "$work/config")},"layers":[{"mediaType":"$oci.layer.v1.tar","digest":"sha256:$layer","size":$(size "$work/layer")}],"annotations":{$labels}}
END
manifest=$(digest "$work/manifest")

archive=$work/archive
mkdir -p "$archive/blobs/sha256"
for blob in layer config manifest; do
    mv "$work/$blob" "$archive/blobs/sha256/$(digest "$work/$blob")"
done
printf '{"imageLayoutVersion":"1.0.0"}\n' >"$archive/oci-layout"
cat >"$archive/index.json" <<END
{"schemaVersion":2,"mediaType":"$oci.index.v1+json","manifests":[{"mediaType":"$oci.manifest.v1+json","digest":"sha256:$manifest","size":$(size "$archive/blobs/sha256/$manifest"),"platform":{"architecture":"$architecture","os":"linux"},"annotations":{"org.opencontainers.image.ref.name":"$version","io.containerd.image.name":"docker.io/library/$name:$version"}}]}
END
cat >"$archive/manifest.json" <<END
[{"Config":"blobs/sha256/$config","RepoTags":["$name:$version"],"Layers":["blobs/sha256/$layer"]}]
END
# Mode bits of the archive's own files come from the umask above.
(cd "$archive" && pack --owner=0 --group=0 -cf - blobs index.json manifest.json oci-layout) >"$out"
printf 'image sha256:%s\nmanifest sha256:%s\n' "$config" "$manifest"
