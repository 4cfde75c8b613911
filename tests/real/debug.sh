#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs inside a box with the debug profile: debuggers of own children.
# shellcheck source=tests/real/check.sh
. /real/check.sh

check 'gdb: break, run, bt' <<'E'
cd /tmp
cat >depth.c <<'C'
#include <stdio.h>
void deep(int n)
{
	if (n > 0)
		deep(n - 1);
	printf("%d\n", n);
}
int main(void)
{
	deep(2);
	return 0;
}
C
gcc -g -O0 -o depth depth.c
gdb -batch -ex 'break deep if n == 0' -ex run -ex bt ./depth >said 2>&1
cat said
grep -q '#3 .* main ()' said
! grep -q 'disabling address space randomization' said
E
check 'gdb: attach to an own process' <<'E'
cd /tmp
sleep 1000 &
gdb -batch -ex 'info registers rip pc' -p $! >said 2>&1
kill $!
cat said
grep -q 0x said
E
check 'strace -f' <<'E'
strace -f -e trace=execve -o /tmp/trace sh -c 'true; /bin/true; :'
grep -q 'execve("/bin/true"' /tmp/trace
E
echo end >&3
