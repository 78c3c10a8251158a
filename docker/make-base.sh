#!/bin/sh
# Makes a small Debian image from the package mirror of this machine, for places where no public
# base image can be had. Bots' Dockerfiles can be built on it, and pip and npm work in it.
#
#   docker/make-base.sh bura-base:local python3 python3-venv python3-pip python-is-python3 libstdc++6
#
# Needs root, mmdebstrap and a container engine. Nothing of this machine goes into the image but
# the certificate authorities it trusts.
set -eu

if [ "$#" -lt 2 ]; then
    echo "usage: $0 TAG PACKAGE..." >&2
    exit 2
fi
tag=$1
shift

if [ "$(id -u)" -ne 0 ]; then
    echo "$0: needs root to unpack Debian; run it with sudo, or pull a base image" >&2
    exit 3
fi
for program in mmdebstrap docker; do
    if ! command -v "$program" >/dev/null; then
        echo "$0: needs $program; install it with: apt-get install mmdebstrap docker.io" >&2
        exit 3
    fi
done

. /etc/os-release
if [ "${ID:-}" != debian ] || [ -z "${VERSION_CODENAME:-}" ]; then
    echo "$0: needs a Debian machine, whose package sources it uses" >&2
    exit 3
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Only Debian's own sources: others may lack these packages or their keys.
find /etc/apt/sources.list /etc/apt/sources.list.d -type f \
    \( -name '*.list' -o -name '*.sources' \) 2>/dev/null |
while read -r file; do
    if grep -Eq '^(deb|URIs:).*/debian(-security)?/?( |$)' "$file"; then
        echo "$file"
    fi
done > "$work/sources"
if [ ! -s "$work/sources" ]; then
    echo "$0: found no Debian package source in /etc/apt" >&2
    exit 3
fi

packages=$1
shift
for package in "$@"; do
    packages=$packages,$package
done

authorities=/usr/local/share/ca-certificates
mkdir -p "$work/authorities"
if [ -d "$authorities" ]; then
    cp -R "$authorities/." "$work/authorities/"
fi

# A pipe would hide the failure of its left side.
# shellcheck disable=SC2046 # one word for each source
mmdebstrap --quiet --variant=essential --include="ca-certificates,$packages" \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook="sync-in $work/authorities $authorities" \
    --customize-hook='chroot "$1" update-ca-certificates' \
    --customize-hook='rm -rf "$1"/etc/apt/sources.list* "$1"/var/lib/apt/lists "$1"/var/cache/apt' \
    --customize-hook='rm -f "$1"/etc/resolv.conf "$1"/etc/hostname' \
    "$VERSION_CODENAME" "$work/base.tar" $(cat "$work/sources") >&2

docker import \
    --change 'CMD ["bash"]' \
    --change 'ENV LANG=C.UTF-8' \
    --change "LABEL bura-image.packages=$packages" \
    "$work/base.tar" "$tag"
