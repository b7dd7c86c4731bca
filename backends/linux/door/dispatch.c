/* dispatch - one trapped call from its arguments to its answer. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/dispatch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/calls_connect.h"
#include "backends/linux/door/calls_meta.h"
#include "backends/linux/door/calls_names.h"
#include "backends/linux/door/calls_open.h"
#include "backends/linux/door/calls_peer.h"
#include "backends/linux/door/calls_socket.h"
#include "backends/linux/door/finish.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/lost.h"
#include "backends/linux/door/ports.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/resolve.h"
#include "backends/linux/door/state.h"
#include "core/base/path.h"
#include "core/keeper/folders/tool_dirs.h"
#include "core/keeper/keeper.h"

/*
 * Theory of operation
 *
 * The kernel parks the caller and hands over a number, six registers and a thread id. Registers are
 * the kernel's own copy; memory, descriptors and the current directory are the caller's, and its
 * other threads may change them at any time. So, for each request:
 *
 *   1. prepare: copy the memory that the registers point to, once; refuse calls that the kernel
 *	would refuse.
 *   2. resolve: from the copies to places, through the keeper's descriptors (resolve.c, walk.c).
 *   3. ask the kernel whether the id is still alive. If not, the thread id may be another process's
 *	by now, and everything read so far may be about that process: drop the request. This step
 *	is skipped if a look by a handle has proved the process (request_proved()).
 *   4. perform: one call of folder_*(), on the keeper's descriptors and copies. Nothing of the
 *	caller's is read again.
 *   5. answer once: an errno, a descriptor, or CONTINUE.
 *
 * CONTINUE lets the kernel run the call with whatever memory holds by then. It is never a decision:
 * it is used where the floor (read-only mounts, Landlock) gives the right answer for any value.
 *
 * A held request keeps its copies. After the user's answer, steps 2 to 5 run again. The place must
 * be the one that was shown (same directory inode, same path), or the caller gets ESTALE. For a
 * rename or link, folder_*() compares the source with the object in the question.
 */

#define TRIES 4 /* resolutions of a path that changes meanwhile */

static bool is_shown(const struct request *r, int i)
{
	const struct place *p = r->place[i];
	char text[PATH_MAX];
	struct stat st;

	place_text(p, text, sizeof(text));
	if (r->shown[i].text == NULL || strcmp(text, r->shown[i].text) != 0)
		return false;
	if (p->folder == NULL || r->shown[i].ino == 0) /* it was outside then, and is granted now */
		return true;
	return fstat(p->at.dirfd, &st) == 0 && st.st_dev == r->shown[i].dev &&
	       st.st_ino == r->shown[i].ino;
}

/* Returns whether a new link's name exists. link() checks that before the file system; rename()
 * does not. */
static bool link_taken(const struct request *r)
{
	const struct place *to = r->place[1];
	struct stat st;

	return r->call->perform == perform_link && to->folder != NULL &&
	       fstatat(to->at.dirfd, to->at.name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int resolve_all(struct ldoor *d, struct request *r)
{
	int outside = 0, places = 0;

	r->cwd_known = r->same_process = false;
	for (int i = 0; i < 2; i++) {
		int got;

		if (r->how[i] == HOW_NONE)
			continue;
		got = r->copied[i] < 0 ? r->copied[i] : place_resolve(d, r, i);
		if (got < 0 && i == 1 && r->place[1]->gone && r->call->perform == perform_rename &&
		    is_dots(r->place[0]->at.name, strcspn(r->place[0]->at.name, "/")))
			return -EBUSY; /* the kernel checks the last names first */
		if (got < 0)
			return got;
		if (r->call->perform == perform_link && i == 0 && !r->place[0]->known)
			return -ENOENT;
		if (r->resumed && !is_shown(r, i))
			return -ESTALE;
		places++;
		outside += r->place[i]->folder == NULL;
	}
	if (outside > 0 && outside < places)
		return link_taken(r) ? -EEXIST : -EXDEV;
	if (places == 2 && outside == 0 && r->place[0]->folder != r->place[1]->folder)
		return -EXDEV;
	return outside;
}

/* Returns whether access(2) must fail. Without mounts the kernel would ignore Landlock in its
 * answer. */
static bool is_closed(const struct ldoor *d, const struct place *p)
{
	return d->floor.own != NULL && p->known && !p->special && !place_is_own(d, p) &&
	       (S_ISREG(p->st.st_mode) || S_ISDIR(p->st.st_mode));
}

/*
 * Returns an error if the name does not exist, else 0. On a read-only mount the kernel refuses to
 * remove or move a name before it looks for it, but a program that makes sure that a file is gone
 * expects ENOENT.
 */
static int missing_outside(const struct ldoor *d, const struct request *r)
{
	static const char *const own[] = {"/tmp", "/var/tmp", "/run", "/dev"};
	const struct place *p = r->place[0];
	AUTO_CLOSE int fd = -1;

	if (d->floor.own != NULL || p->nested || p->special || r->how[0] != HOW_NAME ||
	    (r->call->perform != perform_unlink && r->call->perform != perform_rmdir &&
	     r->call->perform != perform_rename))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (path_is_beneath(p->text, own[i])) /* these are writable */
			return 0;
	fd = open_in_sandbox(d, p->text);
	return fd == -ENOENT || fd == -ENOTDIR || fd == -ENAMETOOLONG ? fd : 0;
}

/* Performs a change outside every folder: the floor answers, or policy asks. */
static int perform_outside(struct ldoor *d, struct request *r)
{
	int got;

	if (r->call->anywhere || r->reads)
		return r->call->perform(d, r);
	if (r->call->perform == perform_access && is_closed(d, r->place[0]))
		return -EACCES;
	if (r->place[0]->special || r->call->perform == perform_access ||
	    r->call->perform == perform_statfs)
		return DOOR_CONTINUE;
	got = missing_outside(d, r);
	if (got < 0)
		return got;
	got = r->call->perform == perform_mkdir && !r->place[0]->nested
		      ? tool_dir_make(d->k, r->place[0]->text)
		      : 0;
	if (got != 0)
		return MIN(got, 0);
	got = place_outside(d, &r->caller, r->place[r->how[1] != HOW_NONE]);
	return got == 0 ? DOOR_CONTINUE : place_granted(got);
}

/* Copies the paths. An error is kept until its turn, in the kernel's order. */
static void copy_paths(struct ldoor *d, struct request *r)
{
	const struct path_arg *args = r->call->path;

	if (args[0].how != HOW_NONE && args[1].how != HOW_NONE && !r->slot[SLOT_PATH].have &&
	    !r->slot[SLOT_PATH2].have)
		request_paths(r, (uint64_t[]){r->args[args[0].path], r->args[args[1].path]});
	for (int i = 0; i < 2; i++) {
		const struct path_arg *arg = &r->call->path[i];
		enum slot slot = i == 0 ? SLOT_PATH : SLOT_PATH2;

		r->copied[i] = 0;
		if (r->how[i] == HOW_NONE)
			continue;
		if (arg->dirfd >= 0)
			r->dirfd[i] = (int)r->args[arg->dirfd];
		if (r->how[i] != HOW_FD && !r->slot[slot].have)
			r->copied[i] = request_path(d, r, slot, r->args[arg->path]);
	}
}

/*
 * Returns the result for a request that could not be examined (unreadable memory, no descriptor for
 * the caller's process). The floor answers it, except where the floor does not hold for every
 * value: a path of /proc/N/fd leads to the writable mount of a descriptor that the door has handed
 * out, and a socket file on a read-only mount can be connected to.
 */
static int unseen(const struct request *r)
{
	return r->call->anywhere ? -EACCES : DOOR_CONTINUE;
}

static int handle(struct ldoor *d, struct request *r)
{
	int got = 0;

	for (int i = 0; i < 2; i++)
		r->how[i] = r->call->path[i].how;
	if (r->call->prepare != NULL)
		got = r->call->prepare(d, r);
	if (got == DOOR_NOTHING)
		return 0;
	if (got == 0 && r->call->perform == NULL)
		return DOOR_CONTINUE;
	if (got == 0)
		copy_paths(d, r);
	if (got == DOOR_CONTINUE && r->call->prepare != prepare_bind &&
	    r->call->prepare != prepare_listen)
		return unseen(r);
	for (int i = 0; i < TRIES && got >= 0; i++) {
		int outside = resolve_all(d, r);

		if (request_alive(d, r) < 0)
			return DOOR_DEAD;
		if (outside == -ENOENT && r->call->perform == perform_connect)
			peer_absent(d, r);
		if (outside < 0)
			return outside == DOOR_CONTINUE ? unseen(r) : outside;
		got = outside > 0 ? perform_outside(d, r) : r->call->perform(d, r);
		if (i == 0 && got == -ENOENT && (r->place[0]->recent || r->place[1]->recent))
			d->renames++; /* the cached directory may be outdated */
		else if (got != DOOR_AGAIN)
			return got;
		got = 0;
	}
	return got < 0 ? got : -ESTALE;
}

/* Answers the request. An open continues only if open_may_continue() allows it. */
static void finish(struct ldoor *d, struct request *r, int got)
{
	if (got == DOOR_CONTINUE && r->call->perform == perform_open)
		got = open_may_continue(d, r);
	request_finish(d, r, got);
}

void door_dispatch(struct ldoor *d, struct request *r, bool granted)
{
	int got;

	if (keeper_caller(d->k, r->tid, &r->caller) < 0) {
		finish(d, r, unseen(r));
		return;
	}
	r->caller.door = &d->door;
	r->caller.request = r->id;
	r->caller.granted = granted;
	r->caller.stale = false;
	r->caller.asked = &r->asked;
	r->caller.op = r->call->name;
	if (!r->resumed && lost_find(d, r, &got))
		request_finish(d, r, got);
	else
		finish(d, r, handle(d, r));
}
