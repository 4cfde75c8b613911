#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of other people's bug reports, one kind a function: archives that
leave their root, contradict themselves or are cut, and policies that are almost
right. A name begins with the case it belongs to (RF: root filesystem, PJ: JSON
policy, EX: execution); what is right for it stands in the tests.

make_inputs.py --out DIR [--busybox PATH]

Standard library only, no clock, no randomness, no host files: two runs give the
same bytes (MANIFEST.tsv has their digests). With --busybox each root can run sh
and its applets; without it there are /bin/ok, which prints ok, and /bin/cat.

Canaries: an archive that gets out makes a file below /tmp/llmbox-canary*.
"""
import argparse, bz2, gzip, hashlib, io, lzma, os, struct, sys, tarfile

MTIME = 1700000000
OUT = "inputs"
BUSYBOX = None
MANIFEST = []
CANARY = "/tmp/llmbox-canary"
BBLINKS = ("sh ls stat mv rm mkdir rmdir touch chmod chown ln cp find env id ps kill sleep dd head "
           "wc od yes true false readlink mount grep sed tr nc ping stty tty setsid nohup "
           "timeout seq printf echo test sync df du unshare tar").split()


# ---------------------------------------------------------------- tiny x86-64 programs
def elf(code, machine=62, interp=None):
    """Static ELF64 with one RX segment (and a PT_INTERP when interp is given)."""
    nph = 2 if interp else 1
    off = 64 + 56 * nph
    pay = (interp.encode() + b"\0" if interp else b"")
    entry = 0x400000 + off + len(pay)
    size = off + len(pay) + len(code)
    h = b"\x7fELF\x02\x01\x01" + b"\0" * 9
    h += struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, entry, 64, 0, 0, 64, 56, nph, 0, 0, 0)
    ph = b""
    if interp:
        ph += struct.pack("<IIQQQQQQ", 3, 4, off, 0x400000 + off, 0x400000 + off, len(pay), len(pay), 1)
    ph += struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 0x1000)
    return h + ph + pay + code


CODE_OK = bytes.fromhex("b801000000bf01000000488d3510000000ba030000000f05b83c00000031ff0f056f6b0a")
CODE_CAT = bytes.fromhex(
    "488b3c2431db4883ff027c16488b7c241031f631d2b8020000000f0585c0783e89c389df488db42400f0ffff"
    "ba0010000031c00f054885c07824741e4889c2bf01000000488db42400f0ffffb8010000000f054885c07806"
    "ebc831ffeb05bf01000000b83c0000000f05")
OK_ELF = elf(CODE_OK)       # prints "ok\n", exit 0
CAT_ELF = elf(CODE_CAT)     # copies argv[1] or stdin to stdout; exit 1 when it cannot


# ---------------------------------------------------------------- tar helpers
def ti(name, typ=tarfile.REGTYPE, mode=0o644, size=0, link="", uid=0, gid=0, dev=None, pax=None):
    t = tarfile.TarInfo(name)
    t.type, t.mode, t.size, t.linkname, t.uid, t.gid, t.mtime = typ, mode, size, link, uid, gid, MTIME
    if dev:
        t.devmajor, t.devminor = dev
    if pax:
        t.pax_headers = pax
    return t


class Tar:
    """Ordered list of raw members; body() is the archive text, with or without trailer."""

    def __init__(self, fmt=tarfile.GNU_FORMAT, base=True, prefix=""):
        self.fmt, self.b, self.p = fmt, b"", prefix
        if base:
            self.base()

    def raw(self, data):
        self.b += data
        return self

    def add(self, t, data=b""):
        t.size = len(data) if t.type in (tarfile.REGTYPE, b"S") else t.size
        enc = "utf-8"
        self.b += t.tobuf(self.fmt, enc, "surrogateescape")
        self.b += data + b"\0" * (-len(data) % 512)
        return self

    def d(self, n, mode=0o755, **k):
        return self.add(ti(self.p + n, tarfile.DIRTYPE, mode, **k))

    def f(self, n, data=b"", mode=0o644, **k):
        return self.add(ti(self.p + n, tarfile.REGTYPE, mode, **k), data)

    def s(self, n, to, **k):
        return self.add(ti(self.p + n, tarfile.SYMTYPE, 0o777, link=to, **k))

    def h(self, n, to, **k):
        return self.add(ti(self.p + n, tarfile.LNKTYPE, 0o644, link=to, **k))

    def dev(self, n, typ, dev, mode=0o666):
        return self.add(ti(self.p + n, typ, mode, dev=dev))

    def base(self):
        for n in ("bin", "dev", "etc", "proc", "root", "sys", "usr"):
            self.d(n)
        self.d("tmp", 0o1777)
        self.f("bin/ok", OK_ELF, 0o755).f("bin/cat", CAT_ELF, 0o755)
        if BUSYBOX:
            self.f("bin/busybox", BUSYBOX, 0o755)
            for l in BBLINKS:
                self.s("bin/" + l, "busybox")
        self.f("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n").f("etc/group", b"root:x:0:\n")
        return self

    def body(self, trailer=True):
        return self.b + (b"\0" * 1024 if trailer else b"")


def put(case, name, data):
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, name), "wb") as fh:
        fh.write(data)
    MANIFEST.append((name, case, len(data), hashlib.sha256(data).hexdigest()))


def gz(data):
    o = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=o, mtime=0) as g:
        g.write(data)
    return o.getvalue()


def zst(data):
    """One zstd frame made of raw (stored) blocks: no encoder needed."""
    out = struct.pack("<I", 0xFD2FB528) + bytes([0xA0]) + struct.pack("<I", len(data))
    n = 65536
    parts = [data[i:i + n] for i in range(0, len(data), n)] or [b""]
    for i, p in enumerate(parts):
        last = 1 if i == len(parts) - 1 else 0
        out += struct.pack("<I", last | (0 << 1) | (len(p) << 3))[:3] + p
    return out


def paxrec(k, v):
    v = v if isinstance(v, bytes) else v.encode()
    k = k.encode()
    n = len(k) + len(v) + 3
    while True:
        l = str(n).encode()
        if len(l) + len(k) + len(v) + 3 == n:
            return l + b" " + k + b"=" + v + b"\n"
        n = len(l) + len(k) + len(v) + 3


def header(name, size, typ=b"0", mode=0o644, magic=b"ustar\x0000", uid=0, gid=0, link=b"", tail=b""):
    """Hand-made 512-byte tar header; name and link are bytes, used as they are."""
    h = bytearray(512)
    h[0:len(name)] = name
    h[100:108] = b"%07o\0" % mode
    h[108:116] = b"%07o\0" % uid
    h[116:124] = b"%07o\0" % gid
    h[124:136] = b"%011o\0" % size
    h[136:148] = b"%011o\0" % MTIME
    h[148:156] = b" " * 8
    h[156:157] = typ
    h[157:157 + len(link)] = link
    h[257:265] = magic
    if tail:
        h[345:345 + len(tail)] = tail
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)


def pad(d):
    return d + b"\0" * (-len(d) % 512)


# ---------------------------------------------------------------- the inputs
def g_base():
    put("all", "base.tar", Tar().body())
    put("all", "base.tar.gz", gz(Tar().body()))


def g_EX01():
    t = Tar()
    t.f("bin/noexec", OK_ELF, 0o644)
    t.f("bin/missing-interp", elf(CODE_OK, interp="/lib/ld-absent.so.1"), 0o755)
    t.f("bin/wrong-arch", elf(CODE_OK, machine=183), 0o755)
    t.f("bin/bad-shebang", b"#!/no/such/interpreter\necho hi\n", 0o755)
    t.f("bin/crlf.sh", b"#!/bin/sh\r\necho hi\r\n", 0o755)
    t.f("bin/empty", b"", 0o755)
    t.d("bin/adir")
    put("EX-01", "EX-01-exec.tar", t.body())


def g_RF01():
    put("RF-01", "RF-01-dotdot.tar", Tar().f("../../../../../.." + CANARY + "-dotdot", b"x").body())
    put("RF-01", "RF-01-abs.tar", Tar().f(CANARY + "-abs", b"x").body())
    put("RF-01", "RF-01-symlink-parent.tar",
        Tar().s("evil", "/tmp").f("evil/llmbox-canary-symlink", b"x").body())
    put("RF-01", "RF-01-symlink-rel.tar",
        Tar().d("a").d("a/b").s("a/b/up", "../../../../../../../../../../tmp")
        .f("a/b/up/llmbox-canary-rel", b"x").body())
    put("RF-01", "RF-01-symlink-chain.tar",
        Tar().s("d", ".").d("d/a").s("d/a/z", "../../../../../../../../tmp")
        .f("a/z/llmbox-canary-chain", b"x").body())
    put("RF-01", "RF-01-file-over-symlink.tar",
        Tar().s("f", CANARY + "-overwrite").f("f", b"x").body())
    put("RF-01", "RF-01-dir-over-symlink.tar",
        Tar().s("x", CANARY + "-dir").d("x", 0o777).f("x/inside", b"x").body())


def g_RF03():
    put("RF-03", "RF-03-link-to-symlink.tar",
        Tar().s("bin/ok2", "ok").h("bin/ok3", "bin/ok2").body())
    put("RF-03", "RF-03-link-forward.tar",
        Tar().h("bin/early", "bin/late").f("bin/late", OK_ELF, 0o755).body())
    put("RF-03", "RF-03-link-absolute.tar", Tar().h("bin/ok-abs", "/bin/ok").body())
    put("RF-03", "RF-03-link-dot-prefix.tar",
        Tar(prefix="./").h("bin/ok-dot", "./bin/ok").h("bin/ok-nodot", "bin/ok").body())


def g_RF05():
    t = Tar(base=False).d("usr").d("usr/bin").s("bin", "usr/bin").f("usr/bin/ok", OK_ELF, 0o755)
    t.f("usr/bin/cat", CAT_ELF, 0o755)
    t.d("bin").f("bin/tool", OK_ELF, 0o755)
    put("RF-05", "RF-05-usrmerge-dir-after-link.tar", t.body())
    t = Tar(base=False).d("usr").d("usr/bin").f("usr/bin/ok", OK_ELF, 0o755).d("bin")
    t.f("bin/tool", OK_ELF, 0o755).s("bin", "usr/bin")
    put("RF-05", "RF-05-usrmerge-link-after-dir.tar", t.body())
    t = Tar().f("x", b"first").d("x").f("x/child", b"second").s("x", "bin/ok")
    put("RF-05", "RF-05-type-changes.tar", t.body())
    put("RF-05", "RF-05-same-file-twice.tar", Tar().f("etc/v", b"one\n").f("etc/v", b"two\n").body())


def g_RF06():
    t = Tar()
    t.d("locked", 0o000).d("locked/in", 0o111).f("locked/in/secret", b"inner\n", 0o000)
    t.d("ro", 0o555).f("ro/file", b"ro\n", 0o444)
    t.f("etc/gshadow", b"v1\n", 0o000).f("etc/gshadow", b"v2\n", 0o000)
    t.f("etc/open", b"x", 0o666).d("var", 0o755).d("var/shared", 0o2775)
    t.d("root", 0o550).f("root/.profile", b"p\n", 0o644)
    put("RF-06", "RF-06-modes.tar", t.body())


def g_RF07():
    t = Tar(fmt=tarfile.PAX_FORMAT)
    t.f("etc/nobody", b"x", uid=65534, gid=65534).f("etc/mail", b"x", uid=0, gid=8)
    t.f("etc/huge", b"x", uid=172761424, gid=1001020000)
    t.f("etc/max", b"x", uid=4294967294, gid=4294967294)
    t.d("srv", uid=1516583083, gid=0).s("srv/l", "/bin/ok", uid=2119470584, gid=2042662593)
    put("RF-07", "RF-07-high-ids-pax.tar", t.body())
    t = Tar(fmt=tarfile.GNU_FORMAT)
    t.f("etc/huge", b"x", uid=172761424, gid=1001020000).f("etc/max", b"x", uid=4294967294, gid=4294967294)
    put("RF-07", "RF-07-high-ids-gnu.tar", t.body())


def g_RF08():
    t = Tar()
    t.dev("dev/null", tarfile.CHRTYPE, (1, 3)).dev("dev/sda", tarfile.BLKTYPE, (8, 0), 0o660)
    t.dev("etc/chr", tarfile.CHRTYPE, (1, 5)).add(ti("etc/fifo", tarfile.FIFOTYPE, 0o600))
    t.f("bin/suid", OK_ELF, 0o4755).f("bin/sgid", OK_ELF, 0o2755)
    put("RF-08", "RF-08-devices-suid.tar", t.body())
    cap = struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0).decode("latin-1")
    t = Tar(fmt=tarfile.PAX_FORMAT)
    body = paxrec("SCHILY.xattr.security.capability", cap.encode("latin-1"))
    body += paxrec("SCHILY.xattr.user.note", b"hello") + paxrec("SCHILY.xattr.trusted.overlay.opaque", b"y")
    t.raw(header(b"PaxHeaders/ping", len(body), b"x")).raw(pad(body))
    t.raw(header(b"bin/ping", len(OK_ELF), b"0", 0o755)).raw(pad(OK_ELF))
    put("RF-08", "RF-08-xattrs.tar", t.body())


def g_RF10():
    # old GNU sparse: 1 MiB file, 5 bytes at 0 and 5 bytes at the end
    real, last = 1 << 20, (1 << 20) - 5
    h = bytearray(header(b"etc/sparse-old", 10, b"S", magic=b"ustar  \0"))
    for i, (o, n) in enumerate(((0, 5), (last, 5))):
        h[386 + 24 * i:386 + 24 * i + 12] = b"%011o\0" % o
        h[398 + 24 * i:398 + 24 * i + 12] = b"%011o\0" % n
    h[483:495] = b"%011o\0" % real
    h[148:156] = b" " * 8
    h[148:156] = b"%06o\0 " % sum(h)
    t = Tar().raw(bytes(h)).raw(pad(b"HEAD\nTAIL\n"))
    put("RF-10", "RF-10-sparse-oldgnu.tar", t.body())
    smap = b"2\n0\n5\n%d\n5\n" % last
    data = pad(smap) + b"HEAD\nTAIL\n"
    px = b"".join(paxrec(k, v) for k, v in (("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"),
                                             ("GNU.sparse.name", "etc/sparse-pax"),
                                             ("GNU.sparse.realsize", str(real))))
    t = Tar().raw(header(b"PaxHeaders/s", len(px), b"x")).raw(pad(px))
    t.raw(header(b"GNUSparseFile.0/sparse-pax", len(data))).raw(pad(data))
    put("RF-10", "RF-10-sparse-pax10.tar", t.body())
    msg = b"size comes from the pax record\n"
    px = paxrec("size", str(len(msg)))
    t = Tar().raw(header(b"PaxHeaders/p", len(px), b"x")).raw(pad(px))
    t.raw(header(b"etc/paxsize", 0)).raw(pad(msg)).f("etc/after", b"after\n")
    put("RF-10", "RF-10-pax-size.tar", t.body())


def g_RF13():
    b = Tar().body()
    put("RF-13", "RF-13-two-members.tar.gz", gz(b[:1500]) + gz(b[1500:]))
    put("RF-13", "RF-13.tar.bz2", bz2.compress(b))
    put("RF-13", "RF-13.tar.xz", lzma.compress(b))
    put("RF-13", "RF-13.tar.zst", zst(b))
    put("RF-13", "RF-13-gzip-named.tar", gz(b))
    put("RF-13", "RF-13-noext", gz(b))
    put("RF-13", "RF-13-no-trailer.tar", Tar().body(trailer=False))
    put("RF-13", "RF-13-trailing-garbage.tar.gz", gz(b) + b"this is not gzip")
    second = Tar(base=False).f("etc/second", b"second archive\n").body()
    put("RF-13", "RF-13-concatenated.tar", b + second)
    put("RF-13", "RF-13-empty-file.tar", b"")
    put("RF-13", "RF-13-no-entries.tar", b"\0" * 10240)
    put("RF-13", "RF-13-not-a-tar", b"hello, I am a text file\n" * 40)


def g_RF15():
    t = Tar().s("etc/resolv.conf", "../run/systemd/resolve/stub-resolv.conf").s("etc/hosts", "/no/where")
    t.s("etc/localtime", "/usr/share/zoneinfo/Etc/UTC")
    put("RF-15", "RF-15-dangling.tar", t.body())
    put("RF-15", "RF-15-bare.tar", Tar(base=False).d("bin").f("bin/ok", OK_ELF, 0o755).body())
    put("RF-15", "RF-15-file-only.tar", Tar(base=False).f("ok", OK_ELF, 0o755).body())
    t = Tar(base=False).d("bin").d("etc").f("bin/ok", OK_ELF, 0o755)
    t.s("dev", CANARY + "-dev").s("proc", "/etc").s("tmp", "/tmp").s("sys", "../../..")
    t.s("etc/resolv.conf", CANARY + "-resolv").s("etc/hosts", "/etc/hosts")
    put("RF-15", "RF-15-hostile-mountpoints.tar", t.body())
    t = Tar(base=False).d("bin").f("bin/ok", OK_ELF, 0o755).f("dev", b"").f("proc", b"").f("tmp", b"")
    put("RF-15", "RF-15-mountpoints-are-files.tar", t.body())


def g_RF16():
    layer = Tar().body()
    d = hashlib.sha256(layer).hexdigest()
    cfg = ('{"architecture":"amd64","os":"linux","config":{"Cmd":["/bin/ok"]},'
           '"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' % d).encode()
    c = hashlib.sha256(cfg).hexdigest()
    man = ('[{"Config":"%s.json","RepoTags":["demo:latest"],"Layers":["%s/layer.tar"]}]' % (c, d)).encode()
    t = Tar(base=False).f(c + ".json", cfg).d(d).f(d + "/layer.tar", layer).f("manifest.json", man)
    put("RF-16", "RF-16-docker-save.tar", t.body())
    mf = ('{"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json",'
          '"digest":"sha256:%s","size":%d},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar",'
          '"digest":"sha256:%s","size":%d}]}' % (c, len(cfg), d, len(layer))).encode()
    m = hashlib.sha256(mf).hexdigest()
    idx = ('{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json",'
           '"digest":"sha256:%s","size":%d}]}' % (m, len(mf))).encode()
    t = Tar(base=False).f("oci-layout", b'{"imageLayoutVersion":"1.0.0"}').f("index.json", idx)
    t.d("blobs").d("blobs/sha256")
    for h, data in ((c, cfg), (d, layer), (m, mf)):
        t.f("blobs/sha256/" + h, data)
    put("RF-16", "RF-16-oci-layout.tar", t.body())
    put("RF-16", "RF-16-one-dir-deeper.tar", Tar(prefix="myroot/").body())


def g_PJ():
    pol = '{"limits": {"time": 5}, "network": {"mode": "none"}'
    put("PJ-01", "PJ-01-unknown-top.json", (pol + ', "netwrok": "none"}').encode())
    put("PJ-01", "PJ-01-unknown-nested.json",
        (pol + ', "mounts": [{"source": "/tmp", "target": "/mnt", "readonyl": true}]}').encode())
    for n, v in (("negative", "-1"), ("zero", "0"), ("float", "1.5"), ("exp", "1e3"), ("int64max", "9223372036854775807"),
                 ("int64over", "9223372036854775808"), ("huge", "1" + "0" * 400), ("inf", "1e400"),
                 ("string", '"5"'), ("suffix", '"512M"'), ("null", "null"), ("bool", "true"),
                 ("leadzero", "007"), ("hex", "0x10"), ("plus", "+5")):
        put("PJ-03", "PJ-03-%s.json" % n, ('{"limits": {"memory": %s}}' % v).encode())
    ok = (pol + "}").encode()
    for n, v in (("line-comment", b"// c\n" + ok), ("block-comment", b"/* c */" + ok),
                 ("trailing-comma", (pol + ",}").encode()), ("bom", b"\xef\xbb\xbf" + ok),
                 ("utf16", b"\xff\xfe" + ok.decode().encode("utf-16-le")), ("trailing-garbage", ok + b" x"),
                 ("two-documents", ok + b"\n" + ok), ("empty", b""), ("blank", b" \n"), ("null", b"null"),
                 ("array", b"[]"), ("string", b'"x"'), ("unterminated", pol.encode()),
                 ("single-quotes", b"{'a':1}"), ("nul-in-path", (pol + ', "mounts": [{"source": "/tmp\\u0000/x", "target": "/m"}]}').encode()),
                 ("bad-utf8", (pol + ', "mounts": [{"source": "/tmp/').encode() + b'\xff\xfe", "target": "/m"}]}'),
                 ("lone-surrogate", (pol + ', "x": "\\ud800"}').encode()), ("crlf", ok.replace(b", ", b",\r\n")),
                 ("good", ok)):
        put("PJ-04", "PJ-04-%s.json" % n, v)


ALL = [g_base, g_EX01, g_RF01, g_RF03, g_RF05, g_RF06, g_RF07, g_RF08, g_RF10, g_RF13, g_RF15, g_RF16, g_PJ]


def main():
    global OUT, BUSYBOX
    here = os.path.dirname(os.path.abspath(__file__))
    a = argparse.ArgumentParser()
    a.add_argument("--out", default=os.path.join(here, "inputs"))
    a.add_argument("--busybox")
    o = a.parse_args()
    OUT = o.out
    if o.busybox:
        BUSYBOX = open(o.busybox, "rb").read()
    os.makedirs(OUT, exist_ok=True)
    for g in ALL:
        g()
    with open(os.path.join(OUT, "MANIFEST.tsv"), "w") as fh:
        fh.write("file\tcase\tbytes\tsha256\n")
        for r in MANIFEST:
            fh.write("\t".join(map(str, r)) + "\n")
    print("%d files in %s" % (len(MANIFEST), OUT))


if __name__ == "__main__":
    main()
