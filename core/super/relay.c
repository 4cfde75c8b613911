/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read and write with a buffer of a pipe's size: cat(1)'s way and speed. Not
 * splice(2): it would lend the box pages of the caller's files, and it knows
 * neither terminals nor files in append mode.
 *
 * The bytes come from the box and are not looked at, but for the cuts of a
 * capture.
 */
#include "super/relay.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "policy/policy.h"
#include "super/report.h"
#include "super/terminal.h"

enum {
	RELAY_BUFFER = 65536,
	RELAY_BURST = 8, /* buffers in a row, before the loop's turn */
	/* POLLOUT on a pipe promises one page (pipe(7): PIPE_BUF). */
	RELAY_SHARED_PART = 4096,
};

static bool fd_is_ready(int fd, short events)
{
	struct pollfd polled = { .fd = fd, .events = events };

	return poll(&polled, 1, 0) == 1;
}

static ssize_t end_read(int fd, enum relay_end end, char *data, size_t len)
{
	if (end == RELAY_SOCKET)
		return recv(fd, data, len, MSG_DONTWAIT);
	if (end == RELAY_SHARED && !fd_is_ready(fd, POLLIN)) {
		errno = EAGAIN;
		return -1;
	}
	return read(fd, data, len);
}

static ssize_t end_write(int fd, enum relay_end end, const char *data,
			 size_t len)
{
	if (end == RELAY_SOCKET)
		return send(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (end == RELAY_SHARED) {
		if (!fd_is_ready(fd, POLLOUT)) {
			errno = EAGAIN;
			return -1;
		}
		if (len > RELAY_SHARED_PART)
			len = RELAY_SHARED_PART;
	}
	return write(fd, data, len);
}

static void end_close(struct loop_source *source, enum relay_end end)
{
	if (end == RELAY_OWN && source->fd >= 0)
		close(source->fd);
	source->fd = -1;
	source->events = LOOP_OFF;
}

/* ---- capture ---- */

static void capture_add(struct relay *r, const char *data, size_t len)
{
	struct buf *head = &r->capture->head, *tail = &r->capture->tail;
	size_t half = r->capture_half;

	if (head->len < half) {
		size_t n = half - head->len < len ? half - head->len : len;

		buf_add(head, data, n);
		data += n;
		len -= n;
	}
	if (len > half) {
		r->capture->dropped += len - half;
		data += len - half;
		len = half;
	}
	if (tail->len < half) {
		size_t n = half - tail->len < len ? half - tail->len : len;

		buf_add(tail, data, n);
		data += n;
		len -= n;
	}
	r->capture->dropped += len;
	while (len) {
		size_t n =
			half - r->tail_start < len ? half - r->tail_start : len;

		memcpy(tail->data + r->tail_start, data, n);
		r->tail_start = (r->tail_start + n) % half;
		data += n;
		len -= n;
	}
}

static void capture_rotate(struct buf *tail, size_t start)
{
	struct buf turned = { 0 };

	if (!start)
		return;
	buf_add(&turned, tail->data + start, tail->len - start);
	buf_add(&turned, tail->data, start);
	buf_release(tail);
	*tail = turned;
}

/* Bytes at the end that begin a character and do not end it. */
static size_t utf8_cut_end(const char *data, size_t len)
{
	for (size_t n = 1; n <= 3 && n <= len; n++) {
		unsigned char c = (unsigned char)data[len - n];

		if ((c & 0xc0) == 0x80)
			continue;
		size_t want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		return want > n ? n : 0;
	}
	return 0;
}

/* Bytes at the start that end a character begun before. */
static size_t utf8_cut_start(const char *data, size_t len)
{
	size_t n = 0;

	while (n < len && n < 4 && ((unsigned char)data[n] & 0xc0) == 0x80)
		n++;
	return n < 4 ? n : 0;
}

static void capture_finish(struct relay *r)
{
	struct buf *head = &r->capture->head, *tail = &r->capture->tail;

	capture_rotate(tail, r->tail_start);
	r->tail_start = 0;
	r->capture->cut = r->capture->dropped > 0;
	if (!r->capture->cut || !head->len || !tail->len)
		return;
	size_t end = utf8_cut_end(head->data, head->len);
	size_t begin = utf8_cut_start(tail->data, tail->len);

	head->len -= end;
	head->data[head->len] = '\0';
	tail->len -= begin;
	memmove(tail->data, tail->data + begin, tail->len + 1);
	r->capture->dropped += end + begin;
}

/* ---- the two halves ---- */

/* Takes what the box may still write out of len bytes that it wrote. */
static size_t budget_take(struct relay *r, size_t len)
{
	struct relay_budget *b = r->budget;

	if (!b || b->left == LIMIT_NONE)
		return len;
	if ((uint64_t)b->left >= len) {
		b->left -= (int64_t)len;
		return len;
	}
	size_t rest = (size_t)b->left;

	b->left = 0;
	b->hit = true;
	r->eof = true;
	r->lost = true;
	return rest;
}

static void relay_read_failed(struct relay *r)
{
	if (errno == EAGAIN || errno == EINTR)
		return;
	/* The last process with the pty open may open it again. */
	if (errno == EIO && r->from_master && !r->last)
		r->paused = true;
	else if (errno == EIO && r->from_terminal &&
		 !terminal_is_foreground(r->from.fd))
		r->paused = true;
	else
		r->eof = true;
}

/* Is there something in the buffer? */
static bool relay_fill(struct relay *r)
{
	if (r->len)
		return true;
	if (r->eof || r->paused)
		return false;
	if (r->from_terminal && !terminal_is_foreground(r->from.fd)) {
		r->paused = true;
		return false;
	}
	if (!r->buffer)
		r->buffer = mem_resize(NULL, RELAY_BUFFER, 1);
	ssize_t n = end_read(r->from.fd, r->from_end, r->buffer, RELAY_BUFFER);

	if (n < 0) {
		relay_read_failed(r);
		return false;
	}
	if (n == 0) {
		r->eof = true;
		return false;
	}
	r->bytes += (size_t)n;
	r->start = 0;
	r->len = budget_take(r, (size_t)n);
	r->moved = loop_now();
	return r->len > 0;
}

static void relay_write_failed(struct relay *r)
{
	if (errno == EAGAIN || errno == EINTR)
		return;
	if (errno == EIO && r->to_master && !r->last) {
		r->paused = true;
		return;
	}
	/* A terminal that is gone says EIO. */
	if (errno != EPIPE && errno != EIO && errno != ECONNRESET)
		r->error = errno;
	relay_stop(r);
}

/* Is the buffer empty? */
static bool relay_drain(struct relay *r)
{
	if (r->to.fd < 0) {
		capture_add(r, r->buffer + r->start, r->len);
		r->len = 0;
		return true;
	}
	while (r->len) {
		ssize_t n = end_write(r->to.fd, r->to_end, r->buffer + r->start,
				      r->len);

		if (n < 0) {
			relay_write_failed(r);
			return false;
		}
		r->start += (size_t)n;
		r->len -= (size_t)n;
		r->moved = loop_now();
	}
	return true;
}

/* What to wait for next. */
static void relay_arm(struct relay *r)
{
	if (r->done)
		return;
	if (r->eof && !r->len) {
		relay_stop(r);
		return;
	}
	r->from.events = r->len || r->eof || r->paused ? LOOP_OFF : POLLIN;
	if (r->to_master)
		r->to.events = r->len && !r->paused ? POLLOUT : LOOP_OFF;
	else
		r->to.events = r->len ? POLLOUT : 0;
}

void relay_pump(struct relay *r)
{
	for (int i = 0; i < RELAY_BURST && !r->done; i++)
		if (!relay_fill(r) || !relay_drain(r))
			break;
	relay_arm(r);
}

static void relay_from_ready(void *data, int events)
{
	(void)events;
	relay_pump(data);
}

static void relay_to_ready(void *data, int events)
{
	struct relay *r = data;

	/* Nobody will read again: the writer is to know it now. */
	if (events & (POLLERR | POLLHUP | POLLNVAL) && !r->to_master)
		relay_stop(r);
	else
		relay_pump(r);
}

void relay_start(struct relay *r, struct loop *loop)
{
	r->done = false;
	r->from.events = POLLIN;
	r->from.ready = relay_from_ready;
	r->from.data = r;
	r->to.events = 0;
	r->to.ready = relay_to_ready;
	r->to.data = r;
	r->moved = loop_now();
	loop_add(loop, &r->from);
	loop_add(loop, &r->to);
}

void relay_resume(struct relay *r)
{
	if (r->done)
		return;
	r->paused = false;
	relay_pump(r);
}

void relay_stop(struct relay *r)
{
	if (r->done)
		return;
	r->done = true;
	if (r->len)
		r->lost = true;
	/* At the limit it is KILL that ends the writer, not PIPE before it. */
	if (r->budget && r->budget->hit)
		r->from.events = LOOP_OFF;
	else
		end_close(&r->from, r->from_end);
	end_close(&r->to, r->to_end);
}

void relay_release(struct relay *r)
{
	relay_stop(r);
	end_close(&r->from, r->from_end);
	if (r->capture)
		capture_finish(r);
	r->capture = NULL;
	free(r->buffer);
	r->buffer = NULL;
}
