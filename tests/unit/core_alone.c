/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test is that this links: Makefile.am gives it all of libcore.a and none
 * of rootfs's libraries.
 */
#include "tap.h"

int main(void)
{
	ok(true, "libcore.a links with core's own libraries alone");
	return done_testing();
}
