/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/hostview.h"

#include <stddef.h>

const char *const hostview_top[] = { "usr",   "bin",   "sbin",   "lib",
				     "lib32", "lib64", "libx32", NULL };

const char *const hostview_etc[] = {
	/* the loader and the links of update-alternatives */
	"alternatives",
	"ld.so.cache",
	"ld.so.conf",
	"ld.so.conf.d",
	/* certificates; /etc/ssl/private is not among them */
	"ca-certificates.conf",
	"ca-certificates",
	"pki/ca-trust",
	"pki/tls/certs",
	"pki/tls/cert.pem",
	"ssl/certs",
	"ssl/openssl.cnf",
	"ssl/cert.pem",
	/* what libraries look up */
	"debian_version",
	"fonts",
	"gai.conf",
	"host.conf",
	"localtime",
	"locale.alias",
	"locale.conf",
	"magic",
	"mime.types",
	"networks",
	"os-release",
	"protocols",
	"rpc",
	"services",
	"terminfo",
	"timezone",
	"xattr.conf",
	/* runtimes */
	"ImageMagick-6",
	"bash.bashrc",
	"ghc",
	"gprofng.rc",
	"inputrc",
	"java",
	"java-11-openjdk",
	"java-17-openjdk",
	"java-21-openjdk",
	"lua",
	"maven",
	"mono",
	"node",
	"openmpi",
	"perl",
	"php",
	"profile",
	"profile.d",
	"python2.7",
	"python3",
	"python3.9",
	"python3.10",
	"python3.11",
	"python3.12",
	"python3.13",
	"python3.14",
	"sgml",
	"texmf",
	"vim",
	"xml",
	NULL,
};

const char hostview_passwd[] =
	"root:x:0:0:root:/root:/bin/sh\n"
	"daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
	"user:x:1000:1000::/home/user:/bin/sh\n"
	"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";

const char hostview_group[] = "root:x:0:\n"
			      "daemon:x:1:\n"
			      "tty:x:5:\n"
			      "user:x:1000:\n"
			      "nogroup:x:65534:\n";

const char hostview_nsswitch[] = "passwd: files\n"
				 "group: files\n"
				 "hosts: files dns\n"
				 "networks: files\n"
				 "protocols: files\n"
				 "services: files\n";
