/* fs_door - the keeper's door for the guest: requests of the fs server, answered or parked. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/fs_door.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <utlist.h>

#include "backends/vm/fs/fs_perform.h"
#include "backends/vm/fs/fs_server.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/keeper/folders/brought.h"
#include "core/keeper/folders/outside.h"

#define AT_ONCE	    32	 /* requests per turn of the keeper's loop */
#define PARKED_MAX  1024 /* no guest needs more */
#define OBJECTS_MAX 64	 /* parked requests that have a descriptor */

struct message {
	struct fs_note *note;
	size_t len;
	int object; /* descriptor of the message; owned; -1: none */
};

/* A request that waits for the user's answer: a copy of its bytes. */
struct parked {
	struct parked *next;
	struct message m;
	struct asked asked;
	bool granted; /* the user allowed it before another rule or safeguard held it */
};

struct fs_door {
	struct door door;
	struct keeper *k;
	struct fs_page *page;
	struct folder *folder[FS_SHARES_MAX];
	size_t n_folders, n_parked;
	struct parked *parked;
	struct parked *unknown; /* the caller is not known yet; newest first */
	size_t n_unknown;
	struct fs_shared *shared;
	struct fs_note note; /* the message being handled */
};

void fs_shared_unref(struct fs_shared *s)
{
	if (--s->refs == 0)
		free(s);
}

struct fs_page *fs_page_new(struct err *err)
{
	void *page = mmap(NULL, sizeof(struct fs_page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page != MAP_FAILED)
		return page;
	err_set(err, -errno, "share memory with the file server");
	return NULL;
}

void fs_page_free(struct fs_page *page)
{
	if (page)
		munmap(page, sizeof(*page));
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Sends an answer. Takes fd. The server reads whenever it can; if it has died, the answer is
 * dropped. */
static void answer(struct fs_door *d, uint64_t id, int result, int fd)
{
	AUTO_CLOSE int own = fd;
	struct fs_answer a = {.id = id, .what = FS_ANSWER, .result = result};
	int r = io_send_fd(d->door.fd, &a, sizeof(a), own);

	if (r < 0 && own >= 0) { /* ETOOMANYREFS: other programs hold all that may be in flight */
		a.result = r;
		r = io_send_fd(d->door.fd, &a, sizeof(a), -1);
	}
	if (r < 0)
		log_info("fs", "the file server takes no answer");
}

/* Copies the message. Takes its descriptor. */
static struct parked *copy_of(struct message *m, const struct caller *c)
{
	struct parked *p = xcalloc(1, sizeof(*p));

	p->m = (struct message){xmalloc(m->len), m->len, take_fd(&m->object)};
	memcpy(p->m.note, m->note, m->len);
	p->asked = *c->asked;
	p->granted = c->granted && !c->asked->stale;
	return p;
}

static void park(struct fs_door *d, struct message *m, const struct caller *c)
{
	struct parked *p = copy_of(m, c);

	LL_PREPEND(d->parked, p);
	d->shared->held = ++d->n_parked;
}

static struct parked *take(struct parked **list, uint64_t id)
{
	for (struct parked **p = list; *p; p = &(*p)->next) {
		struct parked *one = *p;

		if (one->m.note->id != id)
			continue;
		*p = one->next;
		return one;
	}
	return NULL;
}

static struct parked *unpark(struct fs_door *d, uint64_t id)
{
	struct parked *p = take(&d->parked, id);

	if (p)
		d->shared->held = --d->n_parked;
	return p;
}

static void parked_free(struct parked *p)
{
	util_close_fd(&p->m.object);
	free(p->m.note);
	free(p);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int perform(struct fs_door *d, struct caller *c, const struct message *m)
{
	const struct fs_note *n = m->note;
	struct fs_note_parts p;
	struct folder *f = n->share < d->n_folders ? d->folder[n->share] : NULL;

	if (!fs_note_parse(n, m->len, &p))
		return -EINVAL;
	if (n->what == FS_CLOSED) /* find_caller() did all that is needed */
		return 0;
	if (n->what == FS_READ) {
		c->op = "open";
		return p.text[0] == '/' ? folder_read(d->k, c, n->set & 1 ? RULE_EXEC : RULE_READ,
						      p.text, NULL)
					: -EINVAL;
	}
	return f ? fs_perform(f, c, n, &p, m->object) : -EROFS;
}

static int find_caller(struct fs_door *d, const struct fs_note *n, struct caller *ret)
{
	const struct fs_shared *s = d->shared;

	if (s->callers)
		return s->callers->find(s->data, (int)n->tid, ret);
	return s->caller > 0 ? keeper_caller(d->k, s->caller, ret) : -ESRCH;
}

/* Performs, parks or refuses a request. was: the question that the user has answered, or NULL. May
 * take the message's descriptor. */
static void judge(struct fs_door *d, struct message *m, bool granted, const struct asked *was)
{
	const struct fs_note *n = m->note;
	struct asked asked = was ? *was : (struct asked){0};
	struct caller c = {.request = n->id, .door = &d->door, .granted = granted, .asked = &asked};
	int r = find_caller(d, n, &c);

	if (r == -EAGAIN && d->n_unknown < (m->object < 0 ? PARKED_MAX : OBJECTS_MAX)) {
		struct parked *p = copy_of(m, &c);

		LL_PREPEND(d->unknown, p);
		d->n_unknown++;
		return;
	}
	if (r == 0)
		r = perform(d, &c, m);
	if (r == -FOLDER_HELD && d->n_parked < PARKED_MAX) {
		park(d, m, &c);
		return;
	}
	if (r == -FOLDER_HELD) {
		keeper_request_gone(d->k, &d->door, n->id);
		r = -ENOSPC;
	}
	if (r >= 0 && (n->what == FS_OPEN || n->what == FS_CREATE))
		answer(d, n->id, 0, r);
	else
		answer(d, n->id, r == -ESRCH ? -EIO : MIN(r, 0), -1);
}

/* Continues the requests of this thread, oldest first. */
void fs_door_known(struct fs_door *d, int tid)
{
	struct parked *mine = NULL, *p, *next;

	LL_FOREACH_SAFE (d->unknown, p, next) {
		if ((int)p->m.note->tid != tid)
			continue;
		LL_DELETE(d->unknown, p);
		d->n_unknown--;
		LL_PREPEND(mine, p);
	}
	LL_FOREACH_SAFE (mine, p, next) {
		judge(d, &p->m, p->granted, &p->asked);
		parked_free(p);
	}
}

static void cancel(struct fs_door *d, uint64_t id)
{
	struct parked *p = take(&d->unknown, id);

	if (p) {
		d->n_unknown--;
		parked_free(p);
		return;
	}
	p = unpark(d, id);
	if (!p)
		return;
	parked_free(p);
	keeper_request_gone(d->k, &d->door, id);
}

static int serve(struct door *door, short events)
{
	struct fs_door *d = (struct fs_door *)door;

	(void)events;
	for (int i = 0; i < AT_ONCE; i++) {
		AUTO_CLOSE int object = -1;
		ssize_t len = io_try_recv_fd(door->fd, &d->note, sizeof(d->note), &object);
		struct message m = {&d->note, (size_t)MAX(len, (ssize_t)0), object};

		if (len == -EAGAIN)
			return 0;
		if (m.len < FS_NOTE_HEAD) {
			log_error("fs", "the file server has ended: the guest's files are gone");
			return -EPIPE;
		}
		if (d->note.what == FS_CANCEL)
			cancel(d, d->note.id);
		else
			judge(d, &m, false, NULL);
		object = m.object;
	}
	return 0;
}

/* ---- the keeper's callbacks ------------------------------------------------------------------ */

static void answered(struct door *door, uint64_t id, enum door_verdict verdict)
{
	struct fs_door *d = (struct fs_door *)door;
	struct parked *p = unpark(d, id);

	if (!p)
		return;
	if (verdict == VERDICT_DENY || verdict == VERDICT_STOP)
		answer(d, id, verdict == VERDICT_DENY ? -EACCES : -EPERM, -1);
	else
		judge(d, &p->m, p->granted || verdict == VERDICT_ALLOW, &p->asked);
	parked_free(p);
}

static void drop_all(struct door *door)
{
	struct fs_door *d = (struct fs_door *)door;

	while (d->unknown) {
		struct parked *p = d->unknown;

		LL_DELETE(d->unknown, p);
		d->n_unknown--;
		answer(d, p->m.note->id, -EACCES, -1);
		parked_free(p);
	}
	while (d->parked) {
		struct parked *p = unpark(d, d->parked->m.note->id);

		answer(d, p->m.note->id, -EACCES, -1);
		parked_free(p);
	}
}

static void tick(struct door *door)
{
	const struct fs_shared *s = ((struct fs_door *)door)->shared;

	if (s->callers)
		s->callers->tick(s->data);
}

static void rolled_back(struct door *door, int64_t step)
{
	const struct fs_shared *s = ((struct fs_door *)door)->shared;

	if (s->callers)
		s->callers->rolled_back(s->data, step);
}

/* The server's rules are as of its fork. After a change of rules it asks at each open. */
static void ruled(struct door *door, const struct ruled *r)
{
	(void)r;
	atomic_fetch_add(&((struct fs_door *)door)->page->changes, 1);
}

static bool reruled(struct door *door, const struct config *c)
{
	(void)c;
	atomic_fetch_add(&((struct fs_door *)door)->page->changes, 1);
	return true;
}

static void close_door(struct door *door)
{
	struct fs_door *d = (struct fs_door *)door;

	drop_all(door);
	util_close_fd(&d->door.fd);
	fs_page_free(d->page);
	d->shared->door = NULL;
	fs_shared_unref(d->shared);
	free(d);
}

static const struct door_ops ops = {
	.serve = serve,
	.answered = answered,
	.drop_all = drop_all,
	.tick = tick,
	.ruled = ruled,
	.reruled = reruled,
	.rolled_back = rolled_back,
	.close = close_door,
};

struct door *fs_door_new(const struct fs_door_spec *spec, struct fs_shared *shared)
{
	struct fs_door *d = xcalloc(1, sizeof(*d));

	d->door = (struct door){.ops = &ops, .fd = spec->sock};
	d->k = spec->k;
	d->page = spec->page;
	d->n_folders = MIN(spec->n, (size_t)FS_SHARES_MAX);
	for (size_t i = 0; i < d->n_folders; i++)
		d->folder[i] = spec->folder[i];
	d->shared = shared;
	shared->door = d;
	shared->refs++;
	return &d->door;
}
