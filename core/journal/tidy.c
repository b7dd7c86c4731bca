/* tidy - what is done to the store when nobody waits: compressing, emptying the trash. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/pack.h"
#include "core/journal/priv.h"

/*
 * One thread of low priority. It touches kept steps alone, and only what is immutable in them: the
 * copies that the file "held" lists. (Logs are read too often, clones and inodes that were moved in
 * stay what they are: an undo puts them back by renaming.) It takes the place of a file under the
 * lock, and not while the journal is held; so an undo waits for two system calls at most. Where it
 * is killed, either form is there; what it has not done the next session does.
 */

#define IOPRIO_IDLE	(3 << 13)
#define IOPRIO_WHO_SELF 1

struct tidy {
	struct journal *j;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool wanted, quit;
	int holds;	  /* tidy_hold() without tidy_release() */
	atomic_bool stop; /* holds or quit */
};

static void gate_lock(void *data)
{
	struct tidy *t = data;

	pthread_mutex_lock(&t->lock);
}

static void gate_unlock(void *data)
{
	struct tidy *t = data;

	pthread_mutex_unlock(&t->lock);
}

static uint64_t blocks_of(int dirfd, const char *name)
{
	struct obj o;

	return obj_stat(dirfd, name, &o) < 0 ? 0 : o.blocks * 512;
}

/* What one file saves. */
static int64_t pack_one(int dirfd, const char *name, const struct pack_gate *gate)
{
	AUTO_FREE char *packed = xasprintf("%s.z", name);
	uint64_t before = blocks_of(dirfd, name);

	return pack_make(dirfd, name, gate) == 1 ? (int64_t)(before - blocks_of(dirfd, packed)) : 0;
}

static void pack_step(struct tidy *t, int dir, const struct pack_gate *gate)
{
	AUTO_CLOSE int obj = openat(dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	AUTO_FREE uint64_t *slots = NULL;
	struct held held = {0};
	int64_t saved = 0;

	if (obj < 0 || held_read(dir, &held) < 0 || held.packed)
		return;
	slots = held.slots;
	for (size_t i = 0; i < held.n && !atomic_load(&t->stop); i++) {
		char name[24];

		slot_name(name, slots[i]);
		saved += pack_one(obj, name, gate);
	}
	gate_lock(t);
	if (!atomic_load(&t->stop)) {
		const struct held now = {.bytes = (uint64_t)MAX((int64_t)held.bytes - saved, 0),
					 .packed = true};

		if (held_write(dir, &now) < 0)
			held.packed = false; /* the next pass finds nothing to do, and says so */
	}
	gate_unlock(t);
}

static void pass(struct tidy *t)
{
	const struct pack_gate gate = {.lock = gate_lock,
				       .unlock = gate_unlock,
				       .data = t,
				       .stop = &t->stop,
				       .sync = t->j->options.durable};
	char **names = NULL;
	size_t n = 0;

	store_empty_trash(t->j);
	if (store_names(t->j, "steps", &names, &n) < 0)
		return;
	for (size_t i = 0; i < n && !atomic_load(&t->stop); i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names[i]);
		AUTO_CLOSE int fd = store_open_dir(t->j, dir);

		if (fd >= 0)
			pack_step(t, fd, &gate);
	}
	store_names_free(names, n);
}

static void *tidy_main(void *data)
{
	struct tidy *t = data;

	prctl(PR_SET_NAME, "cordon-tidy");
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
	syscall(SYS_ioprio_set, IOPRIO_WHO_SELF, 0, IOPRIO_IDLE);
	pthread_mutex_lock(&t->lock);
	while (!t->quit) {
		if (!t->wanted || t->holds) {
			pthread_cond_wait(&t->change, &t->lock);
			continue;
		}
		t->wanted = false;
		pthread_mutex_unlock(&t->lock);
		pass(t);
		pthread_mutex_lock(&t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static struct tidy *tidy_new(struct journal *j)
{
	struct tidy *t = xcalloc(1, sizeof(*t));

	t->j = j;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->change, NULL);
	return t;
}

static void tidy_free(struct tidy *t)
{
	pthread_cond_destroy(&t->change);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int journal_tidy(struct journal *j)
{
	struct tidy *t = j->tidy;
	sigset_t all, old;
	int r;

	if (!t) {
		t = tidy_new(j);
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		r = pthread_create(&t->thread, NULL, tidy_main, t);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		if (r) {
			tidy_free(t);
			return -r;
		}
		j->tidy = t;
	}
	pthread_mutex_lock(&t->lock);
	t->wanted = true;
	pthread_cond_signal(&t->change);
	pthread_mutex_unlock(&t->lock);
	return 0;
}

void tidy_hold(struct journal *j)
{
	struct tidy *t = j->tidy;

	if (!t)
		return;
	atomic_store(&t->stop, true); /* first: what runs ends sooner */
	pthread_mutex_lock(&t->lock);
	t->holds++;
	pthread_mutex_unlock(&t->lock);
}

void tidy_release(struct journal *j)
{
	struct tidy *t = j->tidy;

	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->wanted = true;
	if (--t->holds == 0 && !t->quit)
		atomic_store(&t->stop, false);
	pthread_cond_signal(&t->change);
	pthread_mutex_unlock(&t->lock);
}

void tidy_end(struct journal *j)
{
	struct tidy *t = take_ptr(&j->tidy);

	if (!t)
		return;
	atomic_store(&t->stop, true);
	pthread_mutex_lock(&t->lock);
	t->quit = true;
	pthread_cond_signal(&t->change);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	tidy_free(t);
}

void tidy_once(struct journal *j)
{
	struct tidy *t = tidy_new(j);

	pass(t);
	tidy_free(t);
}
