/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmd keeps state, count and the incomplete block, and pads; only the
 * compression of whole blocks is replaced (Intel SHA Extensions, "Intel 64 and
 * IA-32 Architectures Software Developer's Manual", volume 2, SHA256RNDS2).
 */
#include "rootfs/digest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

static const uint32_t round_constants[64] __attribute__((aligned(16))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static bool has_sha(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) ||
	    !(c & bit_SSE4_1))
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}

__attribute__((target("sha,ssse3,sse4.1"))) static void blocks(
	uint32_t state[8], const uint8_t *data, size_t count)
{
	const __m128i swap =
		_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	const __m128i *k = (const __m128i *)(const void *)round_constants;
	__m128i *s = (__m128i *)(void *)state;
	__m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128(s), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(s + 1), 0x1b);
	/* As the instructions want it: a b e f and c d g h. */
	__m128i abef = _mm_alignr_epi8(abcd, efgh, 8);
	__m128i cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);

	for (; count; count--, data += 64) {
		const __m128i *in = (const __m128i *)(const void *)data;
		__m128i abef_before = abef, cdgh_before = cdgh, w[4];

		for (int i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(_mm_loadu_si128(in + i), swap);
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {
			__m128i *now = &w[i & 3], next = w[(i + 1) & 3];
			__m128i far = w[(i + 2) & 3], last = w[(i + 3) & 3];
			__m128i m = _mm_add_epi32(*now, k[i]);

			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, m);
			m = _mm_shuffle_epi32(m, 0x0e);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, m);
			m = _mm_add_epi32(_mm_sha256msg1_epu32(*now, next),
					  _mm_alignr_epi8(last, far, 4));
			*now = _mm_sha256msg2_epu32(m, last);
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	abcd = _mm_shuffle_epi32(abef, 0x1b);
	efgh = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128(s, _mm_blend_epi16(abcd, efgh, 0xf0));
	_mm_storeu_si128(s + 1, _mm_alignr_epi8(efgh, abcd, 8));
}
#else
static bool has_sha(void)
{
	return false;
}

static void blocks(uint32_t state[8], const uint8_t *data, size_t count)
{
	for (; count; count--, data += 64)
		SHA256Transform(state, data);
}
#endif

void digest_init(struct digest *d)
{
	SHA256Init(&d->sha);
}

void digest_add(struct digest *d, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t used = d->sha.bitcount[0] / 8 % SHA256_BLOCK_LENGTH;
	size_t first = used ? SHA256_BLOCK_LENGTH - used : 0;

	if (!has_sha() || len < first + SHA256_BLOCK_LENGTH) {
		SHA256Update(&d->sha, p, len);
		return;
	}
	/* What libmd holds of a block is filled up by libmd. */
	SHA256Update(&d->sha, p, first);
	p += first;
	len -= first;
	blocks(d->sha.state.st32, p, len / SHA256_BLOCK_LENGTH);
	d->sha.bitcount[0] += len / SHA256_BLOCK_LENGTH * 512;
	SHA256Update(&d->sha, p + len / SHA256_BLOCK_LENGTH * 64,
		     len % SHA256_BLOCK_LENGTH);
}

void digest_finish(struct digest *d, char ret[DIGEST_TEXT])
{
	uint8_t raw[SHA256_DIGEST_LENGTH];

	SHA256Final(raw, &d->sha);
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(ret + 2 * i, 3, "%02x", raw[i]);
}

int digest_fd(int fd, char ret[DIGEST_TEXT])
{
	enum { CHUNK = 256 << 10 };
	auto_free uint8_t *chunk = mem_alloc(CHUNK);
	struct digest d;
	ssize_t n;

	digest_init(&d);
	while ((n = read(fd, chunk, CHUNK)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			digest_add(&d, chunk, (size_t)n);
	}
	digest_finish(&d, ret);
	return 0;
}
