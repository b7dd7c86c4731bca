/* calls_exec - execve and umask: the kernel performs them, the keeper only reports them. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_exec.h"

#include <sys/syscall.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/calls_read.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "core/keeper/keeper.h"
#include "core/keeper/steps/label.h"

#define ARGV_MAX    8192
#define ARGS_MAX    256
#define ARG_LONGEST 4096

/* Returns the program's path as the caller gave it, which may be relative. For execveat(fd, "",
 * AT_EMPTY_PATH) returns the descriptor's path. */
static const char *exec_path(struct ldoor *d, struct request *r, bool at)
{
	char link[64];
	ssize_t n;

	if (request_path(d, r, SLOT_PATH, r->args[at ? 1 : 0]) < 0)
		return NULL;
	if (r->slot[SLOT_PATH].len > 0 || !at)
		return r->slot[SLOT_PATH].data;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", r->tid, (int)r->args[0]);
	n = readlink(link, d->scratch->paths[1], PATH_MAX);
	if (n < 0)
		return NULL;
	d->scratch->paths[1][n] = '\0';
	return d->scratch->paths[1];
}

/* Copies argv into d->scratch->value, NUL after each argument; LABEL_REST stands for a cut part. */
static size_t copy_argv(struct ldoor *d, struct request *r, uint64_t addr)
{
	uint64_t args[ARGS_MAX];
	size_t used = 0, n, i;
	bool cut = false;

	/* Copy all pointers at once; near the end of the memory, fewer. */
	for (n = ARGS_MAX; n > 0; n /= 2) {
		r->slot[SLOT_EXTRA].have = false;
		if (request_mem(d, r, SLOT_EXTRA, addr, n * sizeof(args[0])) == 0)
			break;
	}
	memcpy(args, d->scratch->extra, n * sizeof(args[0]));
	for (i = 0; i < n && args[i] != 0 && used < ARGV_MAX; i++) {
		size_t room = MIN((size_t)ARGV_MAX - used, (size_t)ARG_LONGEST);
		int got;

		r->slot[SLOT_EXTRA].have = false;
		got = request_text(d, r, SLOT_EXTRA, args[i], room);
		if (got == -E2BIG) {
			r->slot[SLOT_EXTRA].len = room - 1;
			d->scratch->extra[room - 1] = '\0';
			cut = true;
		} else if (got < 0) {
			break;
		}
		memcpy(d->scratch->value + used, d->scratch->extra, r->slot[SLOT_EXTRA].len + 1);
		used += r->slot[SLOT_EXTRA].len + 1;
	}
	if (!cut && i < n && args[i] == 0)
		return used;
	memcpy(d->scratch->value + used, LABEL_REST, strlen(LABEL_REST));
	return used + strlen(LABEL_REST);
}

int prepare_exec(struct ldoor *d, struct request *r)
{
	bool at = r->call->nr == SYS_execveat;
	const char *path;
	size_t len;

	keeper_exec_begins(&r->caller);
	path = exec_path(d, r, at);
	if (path == NULL)
		return DOOR_CONTINUE;
	len = copy_argv(d, r, r->args[at ? 2 : 1]);
	if (request_alive(d, r) < 0)
		return DOOR_DEAD;
	read_tell_exec(d, r, at ? (int)r->args[0] : AT_FDCWD, path);
	keeper_exec(d->k, &r->caller, path, d->scratch->value, len);
	return DOOR_CONTINUE;
}

int prepare_umask(struct ldoor *d, struct request *r)
{
	if (!r->caller.known && request_alive(d, r) < 0)
		return DOOR_DEAD;
	keeper_set_umask(&r->caller, (mode_t)r->args[0] & 0777);
	return DOOR_CONTINUE;
}
