/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax of the network's rules. What they mean, which addresses a name
 * has and which of those are closed, is the relay's to decide.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "policy/field.h"

enum { HOST_MAX = 253 };

struct host_port {
	const char *host; /* without the brackets of an IPv6 address */
	size_t host_len;
	const char *port; /* NULL: none */
};

static bool is_port(const char *text)
{
	size_t len = strspn(text, "0123456789");

	return len > 0 && len <= 5 && !text[len] && text[0] != '0' &&
	       strtoul(text, NULL, 10) <= 65535;
}

/* "host", "host:port", "[v6]:port", "v6": more than one ':' without brackets is
 * an IPv6 address. false where brackets don't match. */
static bool host_port_split(const char *text, struct host_port *ret)
{
	struct host_port hp = { .host = text };

	if (text[0] == '[') {
		const char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':' && end[1] != '/'))
			return false;
		if (end[1] == '/')
			return false;
		hp.host++;
		hp.host_len = (size_t)(end - hp.host);
		hp.port = end[1] ? end + 2 : NULL;
	} else {
		const char *colon = strchr(text, ':');

		if (colon && strchr(colon + 1, ':'))
			colon = NULL;
		hp.host_len = colon ? (size_t)(colon - text) : strlen(text);
		hp.port = colon ? colon + 1 : NULL;
	}
	*ret = hp;
	return true;
}

static bool is_address(const char *text, size_t len, unsigned *ret_bits)
{
	char copy[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (len == 0 || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*ret_bits = strchr(copy, ':') ? 128 : 32;
	return inet_pton(*ret_bits == 128 ? AF_INET6 : AF_INET, copy,
			 &address) == 1;
}

/* "10.0.0.0/8", "fd00::/8", "10.1.2.3" */
static bool is_network(const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);
	size_t n = slash ? (size_t)(slash - text) : len;
	unsigned bits, max;

	if (!is_address(text, n, &max))
		return false;
	if (!slash)
		return true;
	const char *digits = slash + 1;
	size_t digit_count = len - n - 1;

	if (digit_count == 0 || digit_count > 3)
		return false;
	bits = 0;
	for (size_t i = 0; i < digit_count; i++) {
		if (!isdigit((unsigned char)digits[i]))
			return false;
		bits = bits * 10 + (unsigned)(digits[i] - '0');
	}
	return bits <= max && (digit_count == 1 || digits[0] != '0');
}

/* A name whose last part is all digits was meant as an address. */
static bool is_dns_name(const char *text, size_t len)
{
	if (len > 2 && text[0] == '*' && text[1] == '.') {
		text += 2;
		len -= 2;
	}
	if (len > HOST_MAX || !is_host_name(text, len))
		return false;
	const char *last = text + len;

	while (last > text && last[-1] != '.')
		last--;
	return strspn(last, "0123456789") < (size_t)(text + len - last);
}

static bool is_group(const char *text)
{
	size_t len = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.");

	return len > 0 && !text[1 + len];
}

int clean_allow(const struct source *s __attribute__((unused)),
		const char *text, char **ret, struct error *err)
{
	struct host_port hp;

	if (strstr(text, "://")) {
		error_set(err, ERROR_USAGE, 0,
			  "'%s' is a URL, but rules are for hosts and ports",
			  text);
		return error_hint(err, "write HOST:PORT");
	}
	if (text[0] == '@' ? !is_group(text) : !host_port_split(text, &hp)) {
		return error_set(err, ERROR_USAGE, 0, "'%s' is not a rule",
				 text);
	}
	if (text[0] != '@') {
		if (hp.port && !is_port(hp.port))
			return error_set(err, ERROR_USAGE, 0,
					 "'%s' is not a port, in rule '%s'",
					 hp.port, text);
		if (!is_network(hp.host, hp.host_len) &&
		    !is_dns_name(hp.host, hp.host_len)) {
			error_set(err, ERROR_USAGE, 0, "'%s' is not a rule",
				  text);
			return error_hint(err,
					  "write HOST:PORT, *.DOMAIN:PORT, "
					  "ADDRESS/BITS:PORT or @GROUP");
		}
	}
	*ret = mem_strdup(text);
	return 0;
}

/* [ADDRESS:]PORT:PORT, an IPv6 address in brackets. */
int clean_publish(const struct source *s __attribute__((unused)),
		  const char *text, char **ret, struct error *err)
{
	const char *inner = strrchr(text, ':');
	auto_free char *outer =
		inner ? mem_strndup(text, (size_t)(inner - text)) : NULL;
	struct host_port hp = { 0 };
	unsigned bits;
	bool good = inner && is_port(inner + 1);

	if (good && !is_port(outer))
		good = host_port_split(outer, &hp) && hp.port &&
		       is_port(hp.port) &&
		       is_address(hp.host, hp.host_len, &bits);
	if (!good) {
		error_set(err, ERROR_USAGE, 0, "'%s' does not publish a port",
			  text);
		return error_hint(err, "write [ADDRESS:]PORT:PORT, the "
				       "host's first");
	}
	*ret = mem_strdup(text);
	return 0;
}

int route_check(const char *from, const char *to, struct error *err)
{
	struct host_port a, b;

	if (!host_port_split(from, &a) || !a.port || !is_port(a.port) ||
	    a.host[0] == '*' || !is_dns_name(a.host, a.host_len)) {
		error_set(err, ERROR_USAGE, 0, "can't route '%s'", from);
		return error_hint(err, "write NAME:PORT");
	}
	if (!host_port_split(to, &b) || !b.port || !is_port(b.port) ||
	    (!is_network(b.host, b.host_len) &&
	     !is_dns_name(b.host, b.host_len)) ||
	    memchr(b.host, '/', b.host_len) || b.host[0] == '*') {
		error_set(err, ERROR_USAGE, 0, "can't route %s to '%s'", from,
			  to);
		return error_hint(err, "write ADDRESS:PORT");
	}
	return 0;
}
