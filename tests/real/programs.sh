#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs inside a box without a network, on a tree in which everything of
# packages.txt is installed, and prints a line for each check: real.sh makes
# results of them. $IDENTITY is the box's.
# shellcheck source=tests/real/check.sh
. /real/check.sh

# One id: a privilege drop is said to succeed and does nothing.
if [ "$IDENTITY" = one ]; then
	export ANN=root WWW=0:0
else
	export ANN=ann WWW=33:33
fi
export HOME=/root LANG=C.UTF-8

# ---- users

check 'useradd -m makes a user and its home' <<'E'
useradd -m -s /bin/bash ann
grep -q '^ann:' /etc/passwd
[ -f /home/ann/.bashrc ]
[ "$IDENTITY" = one ] || [ "$(stat -c %U /home/ann)" = ann ]
E
check 'su - USER -c' <<'E'
[ "$(su - ann -c 'id -un; pwd' | tr '\n' ' ')" = "$ANN /home/ann " ]
E
check 'runuser' <<'E'
[ "$(runuser -u ann -- id -un)" = $ANN ]
E
check 'setpriv' <<'E'
[ "$(setpriv --reuid=ann --regid=ann --init-groups id -un)" = $ANN ]
E
check 'sudo -n, as root and to a user' <<'E'
sudo -n true
[ "$(sudo -n -u ann id -un)" = $ANN ]
E
check 'chpasswd, usermod, groupadd, userdel' <<'E'
echo ann:secret | chpasswd
groupadd staff2
usermod -aG staff2 ann
useradd bob
userdel bob
E

# ---- owners

check 'tar -x of owners that the box has or has not' <<'E'
cd /tmp
mkdir in out
: >in/a
: >in/b
tar -cf t.tar --owner=33 --group=33 -C in a
tar -rf t.tar --owner=1234567 --group=302912903 -C in b
tar -C out -xf t.tar
[ "$(stat -c %u:%g out/a)" = $WWW ]
[ "$(stat -c %u:%g out/b)" = 0:0 ]
tar -C out --same-owner -xf t.tar
E
check 'rsync and install -o' <<'E'
cd /tmp
rsync -a --chown=33:33 in/ synced
[ "$(stat -c %u:%g synced/a)" = $WWW ]
install -o www-data -g www-data -m 4750 in/a installed
[ "$(stat -c %u:%g,%a installed)" = $WWW,4750 ]
cp -a synced copied
[ "$(stat -c %u:%g copied/a)" = $WWW ]
E
check 'dpkg-deb -b and dpkg -i of an own package' <<'E'
cd /tmp
mkdir -p own/DEBIAN own/usr/share/own
echo text >own/usr/share/own/file
chown 33:33 own/usr/share/own/file
printf '%s\n' 'Package: own' 'Version: 1' 'Architecture: all' \
	'Maintainer: nobody <nobody@localhost>' 'Description: a test' \
	>own/DEBIAN/control
dpkg-deb -b own own.deb
dpkg -i own.deb
[ "$(cat /usr/share/own/file)" = text ]
[ -z "$(dpkg --audit)" ]
dpkg --purge own
E

# ---- languages

check 'npm install of a local tarball with foreign owners' <<'E'
mkdir -p /tmp/npm/package /tmp/npm/project
cd /tmp/npm
echo '{"name":"own","version":"1.0.0","main":"i.js"}' >package/package.json
echo 'module.exports = 6 * 7' >package/i.js
tar -czf own-1.0.0.tgz --owner=501 --group=20 package
echo '{"name":"project","version":"1.0.0"}' >project/package.json
cd project
npm install --offline --no-audit --no-fund ../own-1.0.0.tgz
[ "$(node -p 'require("own")')" = 42 ]
npm pack
E
check 'python3 -m venv, pip install of a local wheel' <<'E'
cd /tmp
python3 - <<'PYTHON'
import zipfile
with zipfile.ZipFile("own-1.0-py3-none-any.whl", "w") as z:
    info = "own-1.0.dist-info/"
    z.writestr("own.py", "value = 6 * 7\n")
    z.writestr(info + "METADATA",
               "Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    z.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\n"
               "Root-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr(info + "RECORD", "own.py,,\n" + info + "RECORD,,\n")
PYTHON
python3 -m venv venv
venv/bin/pip install --no-index ./own-1.0-py3-none-any.whl
[ "$(venv/bin/python -c 'import own; print(own.value)')" = 42 ]
E
check 'git: commit, clone by path, file, git and http' <<'E'
cd /tmp
git config --global user.email ann@localhost
git config --global user.name Ann
git init -q repo
echo text >repo/file
git -C repo add file
git -C repo commit -qm first
git clone -q repo by-path
git clone -q "file:///tmp/repo" by-file
git -C repo update-server-info
git daemon --reuseaddr --listen=127.0.0.1 --port=9418 --export-all \
	--base-path=/tmp --pid-file=/tmp/git.pid --detach
retry git clone -q git://127.0.0.1/repo by-git
python3 -m http.server -b 127.0.0.1 8001 >/dev/null 2>&1 &
retry git clone -q http://127.0.0.1:8001/repo/.git by-http
kill $! "$(cat /tmp/git.pid)"
cat by-path/file by-file/file by-git/file by-http/file | uniq -c |
	grep '4 text'
E
check 'gcc and make -j2' <<'E'
mkdir /tmp/c
cd /tmp/c
printf 'int half(void);\nint main(void) { return half() - 21; }\n' >main.c
printf 'int half(void) { return 42 / 2; }\n' >half.c
cat >hello.cc <<'CC'
#include <iostream>
int main() { std::cout << "hello" << std::endl; }
CC
printf 'all: main hello\nCFLAGS = -g\nmain: main.o half.o\n' >Makefile
make -j2
./main
[ "$(./hello)" = hello ]
E
check 'AddressSanitizer with LeakSanitizer' <<'E'
cd /tmp/c
gcc -fsanitize=address -o sanitized main.c half.c
./sanitized
E

# ---- services, without systemd

check 'redis: service start, PING, service stop' <<'E'
service redis-server start
[ "$(retry redis-cli ping)" = PONG ]
service redis-server stop
E
check 'nginx: service start, a page, service stop' <<'E'
nginx -t
service nginx start
retry curl -sS --fail http://127.0.0.1/ | grep 'Welcome to nginx'
service nginx stop
E
check 'sshd -t' <<'E'
mkdir -p /run/sshd
/usr/sbin/sshd -t
E
if [ "$IDENTITY" = one ]; then
	check 'postgres: refuses, as its privilege drop is not real' <<'E'
if su postgres -c '/usr/lib/postgresql/15/bin/postgres -D /nowhere' \
		>/tmp/said 2>&1; then
	exit 1
fi
cat /tmp/said
grep -q 'execution of the PostgreSQL server is not permitted' /tmp/said
E
else
	check 'ssh to sshd' <<'E'
service ssh start
ssh-keygen -q -N '' -t ed25519 -f /root/.ssh/id_ed25519
install -d -o ann -g ann -m 700 /home/ann/.ssh
install -o ann -g ann /root/.ssh/id_ed25519.pub /home/ann/.ssh/authorized_keys
[ "$(ssh -o StrictHostKeyChecking=no ann@127.0.0.1 id -un)" = ann ]
service ssh stop
E
	check 'postgres: service start, a query, service stop' <<'E'
service postgresql start
[ "$(retry su postgres -c "psql -Atc 'SELECT 6 * 7'")" = 42 ]
[ "$(runuser -u postgres -- psql -Atc 'SHOW data_directory')" = \
	/var/lib/postgresql/15/main ]
[ "$(stat -c %U /var/lib/postgresql/15/main)" = postgres ]
service postgresql stop
E
fi

# ---- what programs look at

check 'a page in chromium, from loopback' <<'E'
mkdir -p /tmp/www
cd /tmp/www
cat >index.html <<'HTML'
<body><script>document.write("six times " + "seven is " + 6 * 7)</script>
HTML
python3 -m http.server -b 127.0.0.1 8002 >/dev/null 2>&1 &
retry curl -sS -o /dev/null http://127.0.0.1:8002/
chromium --headless --no-sandbox --dump-dom http://127.0.0.1:8002/ \
	>/tmp/dom 2>/tmp/dom.err || { cat /tmp/dom.err; exit 1; }
kill $!
cat /tmp/dom
grep -q 'six times seven is 42' /tmp/dom
E
check 'a manual page is rendered' <<'E'
MANPAGER=cat man ls | grep 'list directory contents'
apropos -s 1 'list directory' | grep '^ls '
E
check 'locale, time zone, /dev/shm, /run, /tmp' <<'E'
[ "$(locale charmap)" = UTF-8 ]
[ "$(printf 'gr\303\274n' | wc -m)" = 4 ]
[ "$(TZ=Asia/Tokyo date -d @0 +%H:%M)" = 09:00 ]
[ "$(TZ=America/New_York date -d @0 +%Z)" = EST ]
for dir in /dev/shm /tmp; do
	[ "$(stat -c %a $dir)" = 1777 ]
	su ann -c ": >$dir/of-ann"
done
touch /run/file
python3 -c 'import multiprocessing as m; m.Lock(); m.Queue()'
E
check 'hosts, hostname, resolver' <<'E'
getent ahosts localhost | grep '^127.0.0.1 '
getent hosts "$(hostname)"
[ "$(hostname)" = "$(cat /etc/hostname)" ]
E
check 'strace -f of own children' <<'E'
strace -f -e trace=execve -o /tmp/trace sh -c 'true; /bin/true; :'
grep -q 'execve("/bin/true"' /tmp/trace
E
# Addresses differ from run to run: its only loss against the debug profile.
check 'gdb, which says what this profile refuses' <<'E'
gdb -batch -ex 'break main' -ex run -ex bt /tmp/c/main >/tmp/said 2>&1
cat /tmp/said
grep -q '#0 .* main ()' /tmp/said
grep -q 'disabling address space randomization: .*not permitted' /tmp/said
E
echo end >&3
