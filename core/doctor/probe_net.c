/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: loopback, ping, and what a transparent relay needs in the network
 * namespace of a box: packet rules that hand connections to a socket. The rules
 * are sent as the kernel takes them (netlink(7)); the program nft is not used.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "doctor/probe_try.h"

static int loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

/* A datagram to itself. */
static int loopback_carries(void)
{
	struct sockaddr_in self = { .sin_family = AF_INET,
				    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(self);
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char byte;

	if (fd < 0 || bind(fd, (struct sockaddr *)&self, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&self, &len) < 0 ||
	    sendto(fd, "x", 1, 0, (struct sockaddr *)&self, len) != 1 ||
	    recv(fd, &byte, 1, 0) != 1)
		return -errno;
	return 0;
}

void probe_loopback(struct probe_try *t)
{
	if (probe_enter(t, CLONE_NEWNET) < 0)
		return;
	int r = loopback_up();

	if (r < 0)
		probe_failed(t, -r, CURE_NONE, "bring loopback up");
	else if ((r = loopback_carries()) < 0)
		probe_failed(t, -r, CURE_NONE, "send a packet to itself");
	else
		probe_yes(t, "up, and carries");
}

void probe_ping(struct probe_try *t)
{
	char range[32];

	if (probe_enter(t, CLONE_NEWNET) < 0)
		return;
	snprintf(range, sizeof(range), "%u %u", t->ids.gid[0].inside,
		 t->ids.gid[0].inside);
	int r = file_put(AT_FDCWD, "/proc/sys/net/ipv4/ping_group_range",
			 range);
	auto_close int fd =
		socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);

	if (fd >= 0)
		probe_yes(t, "without a raw socket");
	else
		probe_failed(t, r < 0 ? -r : errno,
			     r == -EROFS ? CURE_PROC : CURE_NONE,
			     "a ping socket");
}

/* ---- packet rules ---- */

enum { HEAD = sizeof(struct nlattr) }; /* a multiple of 4 */

/* One batch under construction; sizes are fixed by what is put in below. */
struct batch {
	_Alignas(struct nlmsghdr) char data[2048];
	size_t len;
	size_t message; /* where the last message begins */
	uint32_t count;
};

static struct nlmsghdr *last_message(struct batch *b)
{
	return (struct nlmsghdr *)(void *)(b->data + b->message);
}

static void add_message(struct batch *b, unsigned type, unsigned flags,
			uint8_t family, uint16_t resource)
{
	struct nfgenmsg head = { .nfgen_family = family,
				 .version = NFNETLINK_V0,
				 .res_id = htons(resource) };

	b->message = b->len;
	*last_message(b) = (struct nlmsghdr){
		.nlmsg_len = NLMSG_LENGTH(sizeof(head)),
		.nlmsg_type = (uint16_t)type,
		.nlmsg_flags = (uint16_t)(flags | NLM_F_REQUEST),
		.nlmsg_seq = b->count++,
	};
	memcpy(NLMSG_DATA(last_message(b)), &head, sizeof(head));
	b->len += NLMSG_SPACE(sizeof(head));
}

static size_t add_attribute(struct batch *b, unsigned type, const void *value,
			    size_t len)
{
	struct nlattr attribute = { .nla_len = (uint16_t)(HEAD + len),
				    .nla_type = (uint16_t)type };
	size_t at = b->len;

	memcpy(b->data + at, &attribute, sizeof(attribute));
	if (len)
		memcpy(b->data + at + HEAD, value, len);
	b->len += (size_t)NLA_ALIGN(attribute.nla_len);
	last_message(b)->nlmsg_len = (uint32_t)(b->len - b->message);
	return at;
}

static void add_text(struct batch *b, unsigned type, const char *text)
{
	add_attribute(b, type, text, strlen(text) + 1);
}

static void add_number(struct batch *b, unsigned type, uint32_t number)
{
	number = htonl(number);
	add_attribute(b, type, &number, sizeof(number));
}

static size_t begin(struct batch *b, unsigned type)
{
	return add_attribute(b, type | NLA_F_NESTED, NULL, 0);
}

static void end(struct batch *b, size_t at)
{
	uint16_t len = (uint16_t)(b->len - at);

	memcpy(b->data + at, &len, sizeof(len));
}

#define TABLE "llmbox"
#define CHAIN "prerouting"

static void add_table(struct batch *b)
{
	add_message(b, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWTABLE,
		    NLM_F_CREATE | NLM_F_ACK, NFPROTO_INET, 0);
	add_text(b, NFTA_TABLE_NAME, TABLE);
}

static void add_chain(struct batch *b)
{
	add_message(b, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN,
		    NLM_F_CREATE | NLM_F_ACK, NFPROTO_INET, 0);
	add_text(b, NFTA_CHAIN_TABLE, TABLE);
	add_text(b, NFTA_CHAIN_NAME, CHAIN);
	size_t hook = begin(b, NFTA_CHAIN_HOOK);

	add_number(b, NFTA_HOOK_HOOKNUM, NF_INET_PRE_ROUTING);
	add_number(b, NFTA_HOOK_PRIORITY, (uint32_t)-150);
	end(b, hook);
	add_number(b, NFTA_CHAIN_POLICY, NF_DROP);
	add_text(b, NFTA_CHAIN_TYPE, "filter");
}

/* Everything to the socket at port 3128. */
static void add_rule(struct batch *b)
{
	static const uint16_t port = 3128;
	const uint16_t value = htons(port);

	add_message(b, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE,
		    NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK, NFPROTO_INET, 0);
	add_text(b, NFTA_RULE_TABLE, TABLE);
	add_text(b, NFTA_RULE_CHAIN, CHAIN);
	size_t list = begin(b, NFTA_RULE_EXPRESSIONS);
	size_t element = begin(b, NFTA_LIST_ELEM);

	add_text(b, NFTA_EXPR_NAME, "immediate");
	size_t data = begin(b, NFTA_EXPR_DATA);

	add_number(b, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	size_t nested = begin(b, NFTA_IMMEDIATE_DATA);

	add_attribute(b, NFTA_DATA_VALUE, &value, sizeof(value));
	end(b, nested);
	end(b, data);
	end(b, element);
	element = begin(b, NFTA_LIST_ELEM);
	add_text(b, NFTA_EXPR_NAME, "tproxy");
	data = begin(b, NFTA_EXPR_DATA);
	add_number(b, NFTA_TPROXY_FAMILY, NFPROTO_UNSPEC);
	add_number(b, NFTA_TPROXY_REG_PORT, NFT_REG_1);
	end(b, data);
	end(b, element);
	end(b, list);
}

/* The first error of the answers; each of three messages has one. */
static int read_answers(int fd, unsigned messages)
{
	_Alignas(struct nlmsghdr) char data[8192];

	while (messages > 0) {
		ssize_t n = recv(fd, data, sizeof(data), 0);

		if (n < 0)
			return -errno;
		unsigned left = (unsigned)n;

		for (struct nlmsghdr *h = (void *)data; NLMSG_OK(h, left);
		     h = NLMSG_NEXT(h, left)) {
			const struct nlmsgerr *answer = NLMSG_DATA(h);

			if (h->nlmsg_type != NLMSG_ERROR)
				continue;
			if (answer->error)
				return answer->error;
			messages--;
		}
	}
	return 0;
}

static int send_rules(void)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct batch b = { .len = 0 };
	auto_close int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);

	if (fd < 0)
		return -errno;
	add_message(&b, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC,
		    NFNL_SUBSYS_NFTABLES);
	add_table(&b);
	add_chain(&b);
	add_rule(&b);
	add_message(&b, NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	if (sendto(fd, b.data, b.len, 0, (struct sockaddr *)&kernel,
		   sizeof(kernel)) < 0)
		return -errno;
	return read_answers(fd, 3);
}

static int transparent_socket(void)
{
	auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	return fd < 0 || setsockopt(fd, SOL_IP, IP_TRANSPARENT, &on,
				    sizeof(on)) < 0
		       ? -errno
		       : 0;
}

void probe_relay(struct probe_try *t)
{
	if (probe_enter(t, CLONE_NEWNET) < 0)
		return;
	int r = send_rules();

	if (r < 0) {
		probe_failed(t, -r, CURE_NF_TABLES, "packet rules with tproxy");
		return;
	}
	r = transparent_socket();
	if (r < 0)
		probe_failed(t, -r, CURE_NF_TABLES, "a transparent socket");
	else
		probe_yes(t, "rules with tproxy are taken");
}
