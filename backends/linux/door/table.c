/* table - each trapped call, how its paths are resolved, how it is performed. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/table.h"

#include "backends/linux/door/calls_connect.h"
#include "backends/linux/door/calls_exec.h"
#include "backends/linux/door/calls_meta.h"
#include "backends/linux/door/calls_names.h"
#include "backends/linux/door/calls_open.h"
#include "backends/linux/door/calls_shared.h"
#include "backends/linux/door/calls_socket.h"
#include "backends/linux/door/ports.h"
#include "core/base/util.h"

/*
 * One row is one system call: its number and name, up to two paths (how the last component is
 * resolved, the index of the directory argument or -1, the index of the path), the function that
 * copies and checks the other arguments, and the function that performs it. core/journal has a
 * table of its own of what it keeps. The filter traps exactly these rows, under the condition of
 * the columns `when`. The last column marks calls that the door also performs outside the folders,
 * where CONTINUE is not safe.
 */
/* clang-format off */
#define CALL(nr)		    SYS_##nr, #nr
#define NONE			    {{HOW_NONE, -1, -1}, {HOW_NONE, -1, -1}}
#define ONE(how, dir, path)	    {{HOW_##how, dir, path}, {HOW_NONE, -1, -1}}
#define TWO(how, d, p, how2, d2, p2) {{HOW_##how, d, p}, {HOW_##how2, d2, p2}}
#define ALWAYS			    WHEN_ALWAYS, 0, false
#define ANYWHERE		    WHEN_ALWAYS, 0, true
#define IF_WRITES(arg)		    WHEN_WRITES, arg, false
#define IF_W_OK(arg)		    WHEN_W_OK, arg, false

const struct door_call door_calls[] = {
	/* opening */
	{CALL(openat), ONE(OBJECT, 0, 1), prepare_open, perform_open, IF_WRITES(2)},
	{CALL(openat2), ONE(OBJECT, 0, 1), prepare_openat2, perform_open, ALWAYS},
	{CALL(truncate), ONE(OBJECT, -1, 0), prepare_truncate, perform_truncate, ANYWHERE},
	/* names */
	{CALL(mkdirat), ONE(NAME, 0, 1), NULL, perform_mkdir, ALWAYS},
	{CALL(mknodat), ONE(NAME, 0, 1), prepare_mknod, perform_mknod, ALWAYS},
	{CALL(unlinkat), ONE(NAME, 0, 1), prepare_unlinkat, perform_unlink, ALWAYS},
	{CALL(renameat), TWO(NAME, 0, 1, NAME, 2, 3), prepare_rename, perform_rename, ALWAYS},
	{CALL(renameat2), TWO(NAME, 0, 1, NAME, 2, 3), prepare_rename, perform_rename, ALWAYS},
	{CALL(linkat), TWO(LINK, 0, 1, NAME, 2, 3), prepare_link, perform_link, ALWAYS},
	{CALL(symlinkat), ONE(NAME, 1, 2), prepare_symlink, perform_symlink, ALWAYS},
	/* attributes */
	{CALL(fchmod), ONE(FD, 0, -1), prepare_chmod, perform_chmod, ANYWHERE},
	{CALL(fchmodat), ONE(OBJECT, 0, 1), prepare_chmod, perform_chmod, ANYWHERE},
	{CALL(fchmodat2), ONE(OBJECT, 0, 1), prepare_chmod, perform_chmod, ANYWHERE},
	{CALL(fchown), ONE(FD, 0, -1), prepare_chown, perform_chown, ANYWHERE},
	{CALL(fchownat), ONE(OBJECT, 0, 1), prepare_chown, perform_chown, ANYWHERE},
	{CALL(utimensat), ONE(OBJECT, 0, 1), prepare_times, perform_times, ANYWHERE},
	{CALL(setxattr), ONE(OBJECT, -1, 0), prepare_xattr, perform_setxattr, ANYWHERE},
	{CALL(lsetxattr), ONE(LINK, -1, 0), prepare_xattr, perform_setxattr, ANYWHERE},
	{CALL(fsetxattr), ONE(FD, 0, -1), prepare_xattr, perform_setxattr, ANYWHERE},
	{CALL(removexattr), ONE(OBJECT, -1, 0), prepare_xattr, perform_removexattr, ANYWHERE},
	{CALL(lremovexattr), ONE(LINK, -1, 0), prepare_xattr, perform_removexattr, ANYWHERE},
	{CALL(fremovexattr), ONE(FD, 0, -1), prepare_xattr, perform_removexattr, ANYWHERE},
	/* queries that must not show the read-only mount */
	{CALL(faccessat), ONE(OBJECT, 0, 1), prepare_access, perform_access, IF_W_OK(2)},
	{CALL(faccessat2), ONE(OBJECT, 0, 1), prepare_access, perform_access, IF_W_OK(2)},
	{CALL(statfs), ONE(OBJECT, -1, 0), NULL, perform_statfs, ALWAYS},
	{CALL(fstatfs), ONE(FD, 0, -1), prepare_fstatfs, perform_statfs, ALWAYS},
	/* sockets; programs */
	{CALL(socket), NONE, prepare_datagram, NULL, WHEN_DATAGRAM, 0, true},
	{CALL(socketpair), NONE, prepare_pair, NULL, WHEN_DATAGRAM, 0, true},
	{CALL(bind), NONE, prepare_bind, perform_bind, ANYWHERE},
	{CALL(listen), NONE, prepare_listen, perform_listen, WHEN_LISTEN, 0, true},
	{CALL(connect), NONE, prepare_connect, perform_connect, ANYWHERE},
	{CALL(execve), NONE, prepare_exec, NULL, ALWAYS},
	{CALL(execveat), NONE, prepare_exec, NULL, ALWAYS},
	{CALL(umask), NONE, prepare_umask, NULL, ALWAYS},
#ifdef SYS_open /* x86-64: the calls from before the *at() family */
	{CALL(open), ONE(OBJECT, -1, 0), prepare_open, perform_open, IF_WRITES(1)},
	{CALL(creat), ONE(OBJECT, -1, 0), prepare_open, perform_open, ALWAYS},
	{CALL(mkdir), ONE(NAME, -1, 0), NULL, perform_mkdir, ALWAYS},
	{CALL(mknod), ONE(NAME, -1, 0), prepare_mknod, perform_mknod, ALWAYS},
	{CALL(unlink), ONE(NAME, -1, 0), NULL, perform_unlink, ALWAYS},
	{CALL(rmdir), ONE(NAME, -1, 0), NULL, perform_rmdir, ALWAYS},
	{CALL(rename), TWO(NAME, -1, 0, NAME, -1, 1), NULL, perform_rename, ALWAYS},
	{CALL(link), TWO(LINK, -1, 0, NAME, -1, 1), NULL, perform_link, ALWAYS},
	{CALL(symlink), ONE(NAME, -1, 1), prepare_symlink, perform_symlink, ALWAYS},
	{CALL(chmod), ONE(OBJECT, -1, 0), prepare_chmod, perform_chmod, ANYWHERE},
	{CALL(chown), ONE(OBJECT, -1, 0), prepare_chown, perform_chown, ANYWHERE},
	{CALL(lchown), ONE(LINK, -1, 0), prepare_chown, perform_chown, ANYWHERE},
	{CALL(utime), ONE(OBJECT, -1, 0), prepare_times, perform_times, ANYWHERE},
	{CALL(utimes), ONE(OBJECT, -1, 0), prepare_times, perform_times, ANYWHERE},
	{CALL(futimesat), ONE(OBJECT, 0, 1), prepare_times, perform_times, ANYWHERE},
	{CALL(access), ONE(OBJECT, -1, 0), prepare_access, perform_access, IF_W_OK(1)},
#endif
};
/* clang-format on */

const size_t door_calls_len = ARRAY_LEN(door_calls);

const struct door_call *door_call_of(int nr)
{
	/* Numbers are small, and the filter has compared them. */
	static const struct door_call *by_nr[512];

	if (by_nr[SYS_openat] == NULL)
		for (size_t i = 0; i < door_calls_len; i++)
			by_nr[door_calls[i].nr] = &door_calls[i];
	return nr >= 0 && (size_t)nr < ARRAY_LEN(by_nr) ? by_nr[nr] : NULL;
}
