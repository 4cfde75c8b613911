#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Without a network a box has a loopback of its own that works as programs
# expect (NW-01), look-ups fail at once and ask nobody (NW-03); a mode that
# can't be had is refused; the host's network only where it was asked for.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'
need python3

bb()
{
	box -r "$BUSYBOX" "$@"
}

# ---- NW-01

run bb sh -c 'ip -o link | cut -d " " -f 2; ip link show lo; ip -o addr
	ip route'
like 'lo is up' "$OUT" 'lo: <LOOPBACK,UP'
is 'lo is all there is' "$(head -n 1 "$T/run.out")" lo:
like 'lo has 127.0.0.1' "$OUT" 'inet 127\.0\.0\.1/8'
unlike 'no other address' "$OUT" 'scope global'
unlike 'no route' "$OUT" '^default|via'

# connections PYTHON BOX-ARGS...: what a server on each address gets.
cat >"$T/loopback.py" <<'PY'
import socket
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"),
                        (socket.AF_INET6, "::ffff:127.0.0.1"),
                        (socket.AF_INET, "127.1.2.3"), (socket.AF_INET, "0.0.0.0"),
                        (socket.AF_INET6, "::")):
    server = socket.socket(family)
    server.bind((address, 80))
    server.listen()
    client = socket.create_connection(("localhost" if address in ("0.0.0.0", "::")
                                       else address, 80))
    connection, _ = server.accept()
    client.sendall(b"hi")
    print(address, connection.recv(2).decode())
    client.close(), connection.close(), server.close()
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", 53))
datagrams.connect(("127.0.0.1", 53))
datagrams.send(b"x")
print("udp", datagrams.recv(1).decode())
# What ping(8) does without a right to raw sockets; not all of them can.
ping = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
ping.sendto(b"\x08\0\0\0\0\0\0\x01", ("127.0.0.1", 0))
print("icmp", ping.recv(64)[0])
print(sorted({a[4][0] for a in socket.getaddrinfo("localhost", 80)}))
try:
    socket.getaddrinfo("example.org", 80)
except socket.gaierror as e:
    print("example.org", e.errno in (socket.EAI_NONAME, socket.EAI_AGAIN))
for where in ("192.0.2.1", "2001:db8::1", "169.254.169.254"):
    try:
        socket.create_connection((where, 80))
        print(where, "connected")
    except OSError as e:
        print(where, "unreachable" if e.errno == 101 else e)
PY
if [ -x /usr/bin/python3 ]; then
	run box -v "$T/loopback.py:/t.py:ro" -- /usr/bin/python3 /t.py
	is 'python: status' "$RC" 0
	is 'every loopback address, low ports too' "$OUT" '127.0.0.1 hi
::1 hi
::ffff:127.0.0.1 hi
127.1.2.3 hi
0.0.0.0 hi
:: hi
udp x
icmp 0
['"'127.0.0.1', '::1'"']
example.org True
192.0.2.1 unreachable
2001:db8::1 unreachable
169.254.169.254 unreachable'
else
	skip 'every loopback address' '/usr/bin/python3 is not installed'
fi
# Two servers on one port, and neither can be reached from outside or the
# other box: each waits in "accept" until its standard input ends.
cat >"$T/outside.py" <<'PY'
import socket, subprocess, sys
port = 47321
box = sys.argv[1:]
serve = ["sh", "-c", "nc -l -p %d -e /bin/echo served & "
         "until grep -q ':B8D9 ' /proc/net/tcp*; do :; done; "
         "echo up; cat; nc 127.0.0.1 %d </dev/null" % (port, port)]
boxes = [subprocess.Popen(box + serve, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) for _ in range(2)]
for b in boxes:
    print(b.stdout.readline().decode().strip())
try:
    socket.create_connection(("127.0.0.1", port))
    print("reached from the host")
except ConnectionRefusedError:
    print("refused")
for b in boxes:
    print(b.communicate(b"")[0].decode().strip())
# The other way round: a server of the host's.
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
own = str(server.getsockname()[1])
abstract = socket.socket(socket.AF_UNIX)
abstract.bind(b"\0llmbox-test-%d" % server.getsockname()[1])
abstract.listen()
probe = ["sh", "-c", "nc 127.0.0.1 %s </dev/null >/dev/null 2>&1; echo $?" % own]
print("none", subprocess.run(box + probe, capture_output=True).stdout.decode().strip())
outside = socket.create_connection(("127.0.0.1", int(own)))
print("outside connected")
PY
run python3 "$T/outside.py" "$LLMBOX" run -r "$BUSYBOX" --
is 'boxes, host and each other' "$OUT" 'up
up
refused
served
served
none 1
outside connected'

# ---- NW-03

run bb sh -c 'cat /etc/resolv.conf; nslookup example.org; echo rc=$?'
unlike 'no nameserver of the host is in the box' "$OUT" \
	'^nameserver [^:1]*[02-9]'
like 'a look-up fails' "$OUT" '^rc=[1-9]'
run bb sh -c 'cat /etc/hosts'
like 'localhost has both addresses' "$OUT" '^::1.*localhost'
run box -r "$HELPER" -- /bin/helper cat /etc/hosts
like 'also where the image has no /etc/hosts' "$OUT" '^127\.0\.0\.1.*localhost'

# ---- modes

for mode in "--allow example.org" "--network allowlist --allow 1.2.3.4:80"; do
	# shellcheck disable=SC2086
	run bb $mode -- sh -c 'echo started'
	is "$mode: refused" "$RC" 125
	is "$mode: nothing was started" "$OUT" ''
	like "$mode: names it" "$ERR" '^llmbox: .*(network|allow)'
done
run bb --network nonee -- true
is 'a misspelt mode: status' "$RC" 125
printf '{"network": {"mode": "allowlist", "allow": []}}' >"$T/p.json"
run bb --policy "$T/p.json" -- ip -o link
is 'an empty list: no network' "$(wc -l <"$T/run.out" | tr -d ' ')" 1

cat >"$T/host.py" <<'PY'
import socket, subprocess, sys
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
port = server.getsockname()[1]
name = b"\0llmbox-test-%d" % port
abstract = socket.socket(socket.AF_UNIX)
abstract.bind(name)
abstract.listen()
inside = """
import socket
socket.create_connection(("127.0.0.1", %d))
print("host: connected")
try:
    socket.socket(socket.AF_UNIX).connect(%r)
    print("abstract: connected")
except OSError as e:
    print("abstract:", e.strerror)
""" % (port, name)
r = subprocess.run(sys.argv[1:] + ["/usr/bin/python3", "-c", inside],
                   stdout=subprocess.PIPE)
print(r.stdout.decode(), end="")
socket.socket(socket.AF_UNIX).connect(name)
print("outside: connected")
PY
run box --network host -- true
if [ "$RC" -ne 0 ]; then
	like 'the host network: refused with a reason' "$ERR" \
		'^llmbox: .*(network|landlock)'
	like 'the host network: the way out' "$ERR" '--best-effort network'
	run box --network host --best-effort network --report "$T/report" true
	is 'the host network: best effort' "$RC" 0
	is 'the host network: the report is honest' "$(json "$T/report" \
		'[d["isolation"]["network"], d["isolation"]["landlock"],
		"network" in d["soft"]]')" '["host", "none", true]'
	inapplicable 'the host network, but not its abstract sockets' \
		"this kernel's Landlock can't scope them"
elif [ -x /usr/bin/python3 ]; then
	run python3 "$T/host.py" "$LLMBOX" run --network host --
	is 'the host network, but not its abstract sockets' "$OUT" \
		'host: connected
abstract: Operation not permitted
outside: connected'
	run box --network host --report "$T/report" -- true
	is 'the host network: the report says so' \
		"$(json "$T/report" 'd["isolation"]["network"]')" host
	run box --network host -- sh -c 'cat /etc/resolv.conf'
	is 'the host network: its resolver' "$OUT" "$(cat /etc/resolv.conf)"
fi
done_testing
