/* es_door - the keeper's door for messages of Endpoint Security. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/es_door.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/macos/endpoint/es_client.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/keeper/folders/brought.h"
#include "core/keeper/folders/folder.h"
#include "core/keeper/service.h"
#include "core/os/beneath.h"
#include "core/os/processes.h"

/* The objects that a call would bring into a folder, kept while the user is asked about it. */
struct shown {
	uint64_t handle;
	struct asked asked;
	UT_hash_handle hh;
};

struct es_door {
	struct door door;
	struct keeper *k;
	struct es_queue *queue;
	struct es_hooks hooks;
	struct es_client *client;
	bool dynamic;
	struct shown *shown;
	uint64_t told; /* handle of the last message whose refusal the keeper has reported */
};

/* A name in a folder, opened again. */
struct place {
	struct folder *folder; /* NULL: in no folder */
	char *dir;	       /* below the folder */
	int fd;
	struct at at;
};
#define AUTO_PLACE CLEANUP(place_done)
#define PLACE_NONE                                                                                 \
	{                                                                                          \
		.fd = -1, .at = {.name = "" }                                                      \
	}

static void place_done(struct place *p)
{
	free(p->dir);
	util_close_fd(&p->fd);
}

/* Opens its directory without following links: the kernel's path is already resolved. */
static int place_find(struct place *p, struct keeper *k, const char *path)
{
	const char *below, *slash;

	p->folder = folders_find(k, path, &below);
	if (!p->folder)
		return 0;
	slash = strrchr(below, '/');
	p->dir = xstrndup(below, slash ? (size_t)(slash - below) : 0);
	p->fd = os_open_beneath(folder_fd(p->folder), *p->dir ? p->dir : ".",
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	if (p->fd < 0)
		return -errno;
	p->at = (struct at){.root = folder_root(p->folder), .dirfd = p->fd, .dir = p->dir};
	p->at.name = slash ? slash + 1 : below;
	if (!*p->at.name) /* the folder itself */
		p->at.leaf = "";
	return 0;
}

/* Returns whether the name still has the object that the kernel found. Between the kernel's look
 * and our answer no process inside can rename it without a permission of ours, but the user can. */
static bool is_as_found(const struct place *p, uint64_t dev, uint64_t ino)
{
	struct stat st;

	return !ino || !p->folder ||
	       (fstatat(p->fd, p->at.name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
		st.st_ino == ino && (uint64_t)st.st_dev == dev);
}

static const char *op_of(const struct es_message *m)
{
	static const char *const names[ES_KINDS] = {
		[ES_OPEN] = "open",	 [ES_EXEC] = "exec",	     [ES_SIGNAL] = "signal",
		[ES_GET_TASK] = "debug", [ES_UNLINK] = "unlink",     [ES_RENAME] = "rename",
		[ES_CREATE] = "create",	 [ES_TRUNCATE] = "truncate", [ES_LINK] = "link",
		[ES_CLONE] = "clone",	 [ES_SWAP] = "exchange",     [ES_META] = "chmod",
		[ES_MOUNT] = "mount",
	};

	if (m->kind == ES_CREATE && m->dir)
		return "mkdir";
	return names[m->kind] ? names[m->kind] : "call";
}

static int caller_of(struct es_door *d, const struct es_message *m, struct caller *ret)
{
	*ret = (struct caller){
		.door = &d->door, .request = m->handle, .granted = m->granted, .op = op_of(m)};
	if (es_kind_asks(m->kind)) /* in whole seconds */
		ret->held_for_s =
			(uint32_t)MAX(es_client_patience(d->client, m) / 1000000, INT64_C(1));
	return keeper_caller(d->k, m->process.pid, ret);
}

static struct shown *shown_of(struct es_door *d, uint64_t handle)
{
	struct shown *s;

	HASH_FIND(hh, d->shown, &handle, sizeof(handle), s);
	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	s->handle = handle;
	HASH_ADD(hh, d->shown, handle, sizeof(s->handle), s);
	return s;
}

static void drop_shown(struct es_door *d, struct shown *s)
{
	HASH_DEL(d->shown, s);
	free(s);
}

/* Returns the verdict for the keeper's result. Notes whether the keeper has reported the refusal,
 * which it does for refusals by policy alone. */
static enum es_verdict verdict_of(struct es_door *d, const struct es_message *m, int r)
{
	if (r == -FOLDER_HELD)
		return ES_HELD;
	if (r >= 0)
		return ES_ALLOW;
	d->told = r == -EACCES || r == -EROFS ? m->handle : 0;
	return ES_DENY;
}

/* ---- what es_client.c asks ------------------------------------------------------------------- */

static enum es_verdict judge(void *data, const struct es_message *m, const char *path,
			     enum es_access access)
{
	struct es_door *d = data;
	const char *below;
	struct caller c;

	if (access == ES_WRITES) /* keep() judges it if it is in a folder */
		return ES_ALLOW;
	if (caller_of(d, m, &c) < 0)
		return ES_DENY;
	if (access == ES_RUNS && m->argv)
		keeper_exec(d->k, &c, path, m->argv, m->argv_len);
	if (!d->dynamic || folders_find(d->k, path, &below))
		return ES_ALLOW;
	return verdict_of(
		d, m, folder_read(d->k, &c, access == ES_RUNS ? RULE_EXEC : RULE_READ, path, NULL));
}

static int keep_one(const struct es_message *m, const struct caller *c, const struct place *p)
{
	switch (m->kind) {
	case ES_OPEN:
		return folder_foresee_open(p->folder, c, &p->at,
					   O_WRONLY | (m->truncates ? O_TRUNC : 0));
	case ES_TRUNCATE:
		return folder_foresee_open(p->folder, c, &p->at, O_RDONLY | O_TRUNC);
	case ES_CREATE:
		if (S_ISLNK(m->mode))
			return folder_foresee_symlink(p->folder, c, &p->at);
		return m->dir ? folder_foresee_make(p->folder, c, &p->at, true)
			      : folder_foresee_open(p->folder, c, &p->at, O_WRONLY | O_CREAT);
	case ES_UNLINK:
		return folder_foresee_remove(p->folder, c, &p->at);
	case ES_META:
		return folder_foresee_meta(p->folder, c, &p->at);
	case ES_EXEC:
	case ES_SIGNAL:
	case ES_GET_TASK:
	case ES_RENAME:
	case ES_LINK:
	case ES_CLONE:
	case ES_SWAP:
	case ES_MOUNT:
	case ES_FORK:
	case ES_EXIT:
	case ES_CREATED:
	case ES_RENAMED:
	case ES_XPC_CONNECT:
	case ES_KINDS:
		break;
	}
	return -EPERM;
}

/* Captures the name before an object comes to it, in place of another or not. */
static int keep_target(const struct es_message *m, const struct caller *c, const struct place *p)
{
	return m->ino2 ? folder_foresee_replace(p->folder, c, &p->at)
		       : folder_foresee_make(p->folder, c, &p->at, false);
}

/* The kernel describes a RENAME_SWAP like a rename over an existing object. So for each of those
 * both names may lose their object and get the other's. */
static int keep_rename(const struct es_message *m, const struct caller *c, const struct place *from,
		       const struct place *to)
{
	int r = 0;

	if (from->folder == to->folder)
		return folder_foresee_rename(from->folder, c, &from->at, &to->at);
	if (to->folder)
		r = keep_target(m, c, to);
	if (r < 0 || !from->folder)
		return r;
	return m->ino2 ? folder_foresee_replace(from->folder, c, &from->at)
		       : folder_foresee_remove(from->folder, c, &from->at);
}

/* Captures the target of a clone or a copy, which writes an existing file in place. */
static int keep_copy(const struct es_message *m, const struct caller *c, const struct place *to)
{
	return m->ino2 ? folder_foresee_open(to->folder, c, &to->at, O_WRONLY | O_TRUNC)
		       : folder_foresee_make(to->folder, c, &to->at, false);
}

static int keep_two(const struct es_message *m, const struct caller *c, const struct place *from,
		    const struct place *to)
{
	int r;

	switch ((int)m->kind) {
	case ES_RENAME:
		return keep_rename(m, c, from, to);
	case ES_LINK:
		return folder_foresee_link(to->folder, c, &from->at, &to->at);
	case ES_CLONE:
		return to->folder ? keep_copy(m, c, to) : 0;
	case ES_SWAP: /* each is overwritten */
		r = from->folder
			    ? folder_foresee_open(from->folder, c, &from->at, O_WRONLY | O_TRUNC)
			    : 0;
		return r < 0 || !to->folder
			       ? r
			       : folder_foresee_open(to->folder, c, &to->at, O_WRONLY | O_TRUNC);
	default:
		return -EPERM;
	}
}

/* Returns whether the directory has entries; true if that is unknown. */
static bool is_full(const struct place *p)
{
	int fd = openat(p->fd, p->at.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	size_t n = 0;

	while (dir && n < 3 && (e = readdir(dir)))
		n++;
	return n != 2; /* "." and ".." */
}

static bool is_tree(uint32_t mode, const struct place *p)
{
	return p->folder && S_ISDIR(mode) && is_full(p);
}

/* Returns why folder.h cannot judge the rename, or undo it; else NULL. Names and link targets in a
 * directory from elsewhere were not judged when they were made, and the content of a directory that
 * leaves is not captured. A swap does both at once. */
static const char *cannot_move(const struct es_message *m, const struct place *from,
			       const struct place *to)
{
	if (from->folder == to->folder) /* a rename onto a directory with entries is a swap */
		return is_tree(m->mode2, to) ? "directories do not change places here: rename one "
					       "after the other"
					     : NULL;
	if ((to->folder && !S_ISREG(m->mode)) || (from->folder && m->ino2 && !S_ISREG(m->mode2)))
		return "only plain files come into a folder from elsewhere";
	if (is_tree(m->mode, from) || is_tree(m->mode2, to))
		return "a directory does not leave its folder with what is in it: copy it, and "
		       "remove it then";
	return NULL;
}

/* Like cannot_move(), for every kind of call. The clone of a directory brings all its content at
 * once, perhaps under a name that is special for directories. */
static const char *cannot_be(const struct es_message *m, const struct place *from,
			     const struct place *to)
{
	if (m->kind == ES_RENAME)
		return cannot_move(m, from, to);
	if (m->kind == ES_LINK && from->folder != to->folder)
		return "a link joins nothing in a folder with what is elsewhere: copy it";
	if (m->kind == ES_CLONE && to->folder && !S_ISREG(m->mode))
		return "only plain files come into a folder from elsewhere";
	return NULL;
}

static enum es_verdict refuse(struct es_door *d, const struct es_message *m, const struct caller *c,
			      const char *why)
{
	keeper_deny(d->k, c, m->path2, -EPERM, why);
	d->told = m->handle;
	return ES_DENY;
}

static enum es_verdict keep(void *data, const struct es_message *m)
{
	AUTO_PLACE struct place one = PLACE_NONE;
	AUTO_PLACE struct place two = PLACE_NONE;
	struct es_door *d = data;
	const char *why;
	struct shown *shown;
	struct caller c;
	int r = place_find(&one, d->k, m->path);

	if (r == 0 && m->path2)
		r = place_find(&two, d->k, m->path2);
	if (r == 0 && !one.folder && !two.folder)
		return ES_ALLOW;
	if (r == 0)
		r = is_as_found(&one, m->dev, m->ino) && is_as_found(&two, m->dev2, m->ino2)
			    ? caller_of(d, m, &c)
			    : -ESTALE;
	if (r < 0)
		return ES_DENY;
	why = cannot_be(m, &one, &two);
	if (why)
		return refuse(d, m, &c, why);
	shown = shown_of(d, m->handle);
	c.asked = &shown->asked;
	r = m->path2 ? keep_two(m, &c, &one, &two) : keep_one(m, &c, &one);
	if (r != -FOLDER_HELD)
		drop_shown(d, shown);
	return verdict_of(d, m, r);
}

static void done(void *data, const struct es_message *m)
{
	AUTO_PLACE struct place one = PLACE_NONE;
	AUTO_PLACE struct place two = PLACE_NONE;
	struct es_door *d = data;
	struct caller c;

	if (caller_of(d, m, &c) < 0 || place_find(&one, d->k, m->path) < 0)
		return;
	if (m->kind == ES_CREATED && one.folder)
		folder_note_made(one.folder, &c, &one.at);
	if (m->kind == ES_RENAMED && m->path2 && place_find(&two, d->k, m->path2) == 0 &&
	    one.folder && one.folder == two.folder)
		folder_note_moved(one.folder, &c, &one.at, &two.at);
}

/* Reports a refusal, unless the keeper has done so in its own words. */
static void denied(void *data, const struct es_message *m, const char *why)
{
	struct es_door *d = data;
	struct shown *shown;
	struct caller c;

	HASH_FIND(hh, d->shown, &m->handle, sizeof(m->handle), shown);
	if (shown)
		drop_shown(d, shown);
	if ((m->handle && d->told == m->handle) || caller_of(d, m, &c) < 0)
		return;
	keeper_deny(d->k, &c, m->path ? m->path : "", -EPERM, why);
}

static void xpc(void *data, const struct es_message *m)
{
	const struct es_door *d = data;
	char comm[64];

	os_process_name(m->process.pid, comm, sizeof(comm));
	keeper_service(d->k, m->process.pid, comm, SERVICE_OPERATIONS "connect", m->service, true);
}

static void lost(void *data, uint64_t messages, uint32_t found)
{
	const struct es_door *d = data;

	if (messages)
		keeper_warn(d->k,
			    "Endpoint Security dropped %llu messages: what they told of is not in "
			    "the list",
			    (unsigned long long)messages);
	if (found)
		keeper_warn(d->k,
			    "Endpoint Security did not tell of %u processes of the agent's: the "
			    "list of processes did, and they are inside",
			    found);
}

/* ---- the door -------------------------------------------------------------------------------- */

static struct es_door *self(struct door *door)
{
	return (struct es_door *)(void *)((char *)door - offsetof(struct es_door, door));
}

/* Wakes the keeper for the next deadline, which is by another clock. */
static void wake(struct es_door *d)
{
	const struct es_seam *seam = es_queue_seam(d->queue);
	int64_t next = es_client_next(d->client);

	if (next)
		keeper_wake_at(d->k,
			       clock_mono_us() + MAX(next - seam->now(seam->data), (int64_t)0));
}

static int serve(struct door *door, short events)
{
	struct es_door *d = self(door);
	struct es_message m;

	(void)events;
	if (es_queue_take(d->queue, &m))
		es_client_take(d->client, &m);
	wake(d);
	return 0;
}

static void answered(struct door *door, uint64_t id, enum door_verdict verdict)
{
	struct es_door *d = self(door);

	struct shown *shown;

	es_client_resume(d->client, id,
			 verdict == VERDICT_ALLOW   ? ES_RESUME_GRANTED
			 : verdict == VERDICT_RETRY ? ES_RESUME_AGAIN
						    : ES_RESUME_DENY);
	HASH_FIND(hh, d->shown, &id, sizeof(id), shown);
	if (shown && verdict != VERDICT_ALLOW && verdict != VERDICT_RETRY)
		drop_shown(d, shown);
	wake(d);
}

static void drop_all(struct door *door)
{
	es_client_drop(self(door)->client);
}

static void tick(struct door *door)
{
	struct es_door *d = self(door);

	es_client_tick(d->client);
	wake(d);
}

static bool reruled(struct door *door, const struct config *c)
{
	(void)c;
	es_client_forget(self(door)->client);
	return true;
}

static void close_door(struct door *door)
{
	struct es_door *d = self(door);
	struct shown *shown, *next;

	es_queue_shut(d->queue);
	es_client_free(d->client);
	HASH_ITER (hh, d->shown, shown, next)
		drop_shown(d, shown);
	es_queue_free(d->queue);
	free(d);
}

struct door *es_door_new(const struct es_door_spec *spec)
{
	static const struct door_ops ops = {.serve = serve,
					    .answered = answered,
					    .drop_all = drop_all,
					    .tick = tick,
					    .reruled = reruled,
					    .close = close_door};
	struct es_door *d = xcalloc(1, sizeof(*d));

	d->door = (struct door){.ops = &ops, .fd = es_queue_fd(spec->queue)};
	d->k = spec->k;
	d->queue = spec->queue;
	d->dynamic = spec->dynamic;
	d->hooks = (struct es_hooks){.data = d,
				     .judge = judge,
				     .keep = keep,
				     .done = done,
				     .denied = denied,
				     .xpc = xpc,
				     .lost = lost};
	d->client = es_client_new(es_queue_seam(spec->queue), &d->hooks, spec->debug);
	es_client_add(d->client, spec->agent);
	return &d->door;
}
