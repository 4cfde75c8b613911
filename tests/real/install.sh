#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs inside a box on the host's network: installs packages as people do, with
# nothing of the image changed for it. $PACKAGES are their names, $NPM_PACKAGE
# may be one for npm, /archives has what was downloaded before.
# shellcheck source=tests/real/check.sh
. /real/check.sh
export DEBIAN_FRONTEND=noninteractive

check 'apt-get update' <<'E'
apt-get update
E
# apt looks at sizes and digests, and downloads what does not fit.
cp -s /archives/*.deb /var/cache/apt/archives/ 2>/dev/null || :
check "apt-get install $PACKAGES" <<'E'
apt-get install -y --no-install-recommends $PACKAGES
E
check 'dpkg --audit is empty' <<'E'
[ -z "$(dpkg --audit)" ]
E
if [ -n "$NPM_PACKAGE" ]; then
	check "npm install $NPM_PACKAGE" <<'E'
mkdir /tmp/project
cd /tmp/project
npm install --no-audit --no-fund "$NPM_PACKAGE"
ls "node_modules/$NPM_PACKAGE/package.json"
E
fi
echo end >&3
