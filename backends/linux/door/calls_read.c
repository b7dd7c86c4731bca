/* calls_read - opens for reading, if every open is trapped. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/finish.h"
#include "backends/linux/door/read_check.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/parked.h"
#include "backends/linux/door/proc_files.h"
#include "backends/linux/door/state.h"
#include "backends/linux/native_priv.h"
#include "core/base/path.h"
#include "core/keeper/keeper.h"

/*
 * The agent's Landlock domain refuses to read files that no rule has granted (landlock_trees.h). So
 * most opens continue: a path that the caller changes meanwhile is checked, too. The door only
 * finds opens that the floor would refuse although policy or the user would allow them: one look in
 * the sandbox's tree, made by the kernel (read_check.c). It decides nothing: if it is deceived, the
 * caller gets the floor's EACCES.
 *
 * Other opens are resolved like any request. The door opens the object first, asks about its path,
 * and hands over that descriptor.
 */

/* Flags that matter to a file that is open for reading. */
#define READ_FLAGS (O_DIRECTORY | O_NOATIME | O_DIRECT | O_SYNC | O_LARGEFILE)
#define FILE_FLAGS (O_APPEND | O_DIRECT | O_NOATIME | O_NONBLOCK) /* flags that F_SETFL accepts */

int prepare_read(struct ldoor *d, struct request *r)
{
	if (d->floor.trees == NULL)
		return DOOR_CONTINUE;
	r->dirfd[0] = AT_FDCWD;
	if (r->call->path[0].dirfd >= 0)
		r->dirfd[0] = (int)r->args[r->call->path[0].dirfd];
	if (read_check_floor_answers(d, r))
		return DOOR_CONTINUE;
	r->reads = true;
	if (r->flags & O_NOFOLLOW)
		r->how[0] = HOW_LINK;
	return 0;
}

/* Returns whether the place is a descriptor of the caller's that it reads already. A file without a
 * name may be opened again by it. */
static bool reads_it_already(const struct place *p)
{
	int flags = p->object && p->seen >= 0 ? fcntl(p->seen, F_GETFL) : O_PATH;

	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_WRONLY;
}

static int reopen(int fd, int flags)
{
	char link[32];
	int own;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	own = open(link, (flags & READ_FLAGS) | O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0)
		return -errno;
	if (!(flags & O_NONBLOCK))
		fcntl(own, F_SETFL, flags & FILE_FLAGS);
	return own;
}

/* Opens the object with the agent's rights: a keeper of root's has more than root inside. */
static int open_object(const struct ldoor *d, const struct place *p, const char *text, int flags)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;

	/*
	 * Opened by its path in the sandbox, so that a directory that is handed over does not lead
	 * out. A removed, moved or covered object has no path to judge.
	 */
	fd = proc_file_is(d, p, text) ? proc_file_open(d, text) : open_in_sandbox(d, text);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || st.st_dev != p->st.st_dev || st.st_ino != p->st.st_ino)
		return -EACCES;
	return reopen(fd, flags);
}

static const char *via(const struct request *r, const char *text)
{
	return str_eq(r->slot[SLOT_PATH].data, text) ? NULL : r->slot[SLOT_PATH].data;
}

static int ask(struct ldoor *d, struct request *r, const char *text)
{
	int got = folder_read(d->k, &r->caller, RULE_READ, text, via(r, text));

	return got == 0 ? take_fd(&r->opened) : got;
}

static bool is_shut(const struct ldoor *d, const struct place *p)
{
	for (const char *const *shut = d->floor.shut; shut && *shut; shut++)
		if (p->folder == NULL && path_is_beneath(p->text, *shut))
			return true;
	return false;
}

int perform_read(struct ldoor *d, struct request *r)
{
	const struct place *p = r->place[0];
	char text[PATH_MAX];

	if (d->floor.trees == NULL || !p->known || p->special)
		return DOOR_CONTINUE;
	if (S_ISLNK(p->st.st_mode))
		return -ELOOP;
	/* Other objects the floor refuses, or the kernel has an error for. */
	if (!S_ISREG(p->st.st_mode) && !S_ISDIR(p->st.st_mode))
		return DOOR_CONTINUE;
	place_text(p, text, sizeof(text));
	if (look_may_read(d, text))
		return DOOR_CONTINUE;
	if (is_shut(d, p))
		return DOOR_CONTINUE;
	confine_as_agent(true);
	r->opened =
		reads_it_already(p) ? reopen(p->seen, r->flags) : open_object(d, p, text, r->flags);
	confine_as_agent(false);
	if (r->opened >= 0 && reads_it_already(p))
		return take_fd(&r->opened);
	if (r->opened < 0)
		return r->opened;
	return ask(d, r, text);
}

void read_answered(struct ldoor *d, const struct parked *p, enum door_verdict verdict, int *opened)
{
	struct request *r = &d->scratch->now;
	int got;

	if (verdict == VERDICT_STOP || verdict == VERDICT_DENY) {
		door_answer(d, p->id, verdict == VERDICT_STOP ? -EPERM : -EACCES);
		return;
	}
	parked_load(d, r, p);
	r->flags = p->flags;
	r->gives_fd = true;
	r->opened = take_fd(opened);
	got = keeper_caller(d->k, r->tid, &r->caller);
	if (got == 0 && request_alive(d, r) < 0)
		got = DOOR_DEAD;
	if (got < 0) {
		request_finish(d, r, DOOR_DEAD);
		return;
	}
	r->caller.door = &d->door;
	r->caller.request = r->id;
	r->caller.op = r->call->name;
	request_finish(
		d, r, verdict == VERDICT_ALLOW ? take_fd(&r->opened) : ask(d, r, r->shown[0].text));
}

void read_tell_exec(struct ldoor *d, struct request *r, int dirfd, const char *path)
{
	char text[PATH_MAX];
	int fd, n;

	if (d->floor.trees == NULL)
		return;
	fd = read_check_open(d, r, dirfd, path, 0);
	if (fd < 0)
		return;
	n = fd_text(d, fd, text, sizeof(text));
	close(fd);
	if (n > 0 && text[0] == '/' &&
	    !(trees_rights(d->floor.trees, text, d->root, NULL) & LANDLOCK_EXEC))
		keeper_deny(d->k, &r->caller, text, -EACCES,
			    "without FUSE a program is run only from where reading is granted "
			    "since the start of the session: --ro DIR does that, a rule `allow = "
			    "read`, or a directory without hidden files in it");
}
