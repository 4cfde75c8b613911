/* SPDX-License-Identifier: Apache-2.0 */
/* Trusts the kernel for whole datagrams, and the peer for nothing: sizes and
 * numbers of descriptors are checked, texts are ended here. */
#include "sandbox/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int message_send(int socket, const struct message *m, const int *fds,
		 unsigned count)
{
	_Alignas(struct cmsghdr) char
		control[CMSG_SPACE(MESSAGE_FDS_MAX * sizeof(int))];
	struct iovec part = { (void *)m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };

	if (count > MESSAGE_FDS_MAX)
		return -E2BIG;
	if (count) {
		memset(control, 0, CMSG_SPACE(count * sizeof(int)));
		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE(count * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	return sendmsg(socket, &h, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno
								    : 0;
}

/* Takes the descriptors of one control message; what is too much is closed. */
static void take_fds(struct msghdr *h, int *fds, unsigned max, unsigned *count)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int),
			       sizeof(int));
			if (*count < max)
				fds[(*count)++] = fd;
			else
				close(fd);
		}
	}
}

int message_receive(int socket, struct message *ret, int *ret_fds, unsigned max,
		    unsigned *ret_count)
{
	_Alignas(struct cmsghdr) char
		control[CMSG_SPACE(MESSAGE_FDS_MAX * sizeof(int))];
	struct iovec part = { ret, sizeof(*ret) };
	struct msghdr h = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	ssize_t n;

	*ret_count = 0;
	/* unix(7): a peer that died with unread messages gives ECONNRESET once,
	 * before the last that it had sent itself. */
	do
		n = recvmsg(socket, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0)
		return -errno;
	take_fds(&h, ret_fds, max, ret_count);
	if (n == 0)
		return 0;
	if ((size_t)n == sizeof(*ret) &&
	    !(h.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		ret->text[MESSAGE_TEXT_MAX - 1] = '\0';
		return 1;
	}
	for (unsigned i = 0; i < *ret_count; i++)
		close(ret_fds[i]);
	*ret_count = 0;
	return -EPROTO;
}
