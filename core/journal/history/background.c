/* background - compresses copies and empties the trash in a thread of low priority. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/pin.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/background.h"
#include "core/journal/step/step.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"
#include "core/journal/upkeep.h"
#include "core/os/process.h"

/*
 * One thread of low priority, which runs only while there is work: in a process with several
 * threads the kernel counts each use of a descriptor and of memory, which makes a trapped call a
 * tenth longer. It changes kept steps only, and in them only the copies that the file "held" lists,
 * which are immutable. (Logs are read too often; clones and moved inodes must stay as they are,
 * because an undo renames them back.) It replaces a file under the lock, and never while the
 * journal is held; so an undo waits for two system calls at most. If it is killed, one of the two
 * forms exists, and the next session does the rest.
 */

#define LOOK_MAX 32 /* steps; if there are more, the thread looks at them */

struct background {
	struct journal *j;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool started; /* the thread is to be joined */
	bool over;    /* it has ended its work */
	bool wanted, quit;
	bool whole;	      /* the pass was not held up */
	uint64_t below, done; /* all steps below: wanted last; done by the last whole pass */
	int holds;	      /* background_hold() without background_release() */
	atomic_bool stop;     /* holds or quit */
};

static void gate_lock(void *data)
{
	struct background *t = data;

	pthread_mutex_lock(&t->lock);
}

static void gate_unlock(void *data)
{
	struct background *t = data;

	pthread_mutex_unlock(&t->lock);
}

static uint64_t blocks_of(int dirfd, const char *name)
{
	struct object o;

	return object_stat(dirfd, name, &o) < 0 ? 0 : o.blocks * 512;
}

/* Compresses one file. Returns false if there was no room: a later pass tries again. */
static bool compress_one(int dirfd, const char *name, const struct compressed_gate *gate,
			 int64_t *saved)
{
	AUTO_FREE char *packed = xasprintf("%s.z", name);
	uint64_t before = blocks_of(dirfd, name);
	int r = compressed_make(dirfd, name, gate);

	if (r == 1)
		*saved += (int64_t)(before - blocks_of(dirfd, packed));
	return r != -ENOSPC && r != -EDQUOT;
}

/* Compresses the copies of a step. Returns false if some may be left. */
static bool compress_step(struct background *t, int dir, const struct compressed_gate *gate)
{
	AUTO_CLOSE int obj = openat(dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	AUTO_FREE uint64_t *slots = NULL;
	struct held held = {0};
	int64_t saved = 0;
	bool all = true;

	if (obj < 0 || usage_held_read(dir, &held) < 0)
		return true;
	slots = held.slots;
	if (held.packed)
		return true;
	for (size_t i = 0; i < held.n && !atomic_load(&t->stop); i++) {
		char name[24];

		store_slot_name(name, slots[i]);
		all &= compress_one(obj, name, gate, &saved);
	}
	gate_lock(t);
	if (!atomic_load(&t->stop)) {
		held.bytes = (uint64_t)MAX((int64_t)held.bytes - saved, 0);
		held.packed = all;
		held.n = all ? 0 : held.n;
		/* If this fails, the next pass finds all copies compressed and writes it again. */
		held.packed = usage_held_write(dir, &held) == 0 && all;
	}
	gate_unlock(t);
	return held.packed;
}

/* Does all the work once. Returns whether nothing is left to do. */
static bool pass(struct background *t)
{
	const struct compressed_gate gate = {
		.lock = gate_lock, .unlock = gate_unlock, .data = t, .stop = &t->stop};
	AUTO_NAMES struct names names = {0};
	bool all = true;

	store_empty_trash(t->j, &t->stop);
	if (store_names(t->j, "steps", &names) < 0)
		return false;
	for (size_t i = 0; i < names.n && !atomic_load(&t->stop); i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names.list[i]);
		AUTO_CLOSE int fd = store_open_dir(t->j, dir);

		if (fd >= 0)
			all &= compress_step(t, fd, &gate);
	}
	return all && !atomic_load(&t->stop);
}

static void *background_main(void *data)
{
	struct background *t = data;
	bool all;

	os_set_name("cordon-tidy");
	os_run_idle();
	pthread_mutex_lock(&t->lock);
	while (!t->quit && t->wanted) {
		uint64_t below = t->below;

		if (t->holds) {
			pthread_cond_wait(&t->change, &t->lock);
			continue;
		}
		t->wanted = false;
		t->whole = true;
		pthread_mutex_unlock(&t->lock);
		all = pass(t);
		pthread_mutex_lock(&t->lock);
		if (all && t->whole)
			t->done = below;
	}
	t->over = true;
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static struct background *background_new(struct journal *j)
{
	struct background *t = xcalloc(1, sizeof(*t));

	t->j = j;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->change, NULL);
	return t;
}

static void background_free(struct background *t)
{
	pthread_cond_destroy(&t->change);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static bool step_wants(const struct journal *j, int64_t id)
{
	AUTO_FREE char *dir = xasprintf("steps/%" PRId64, id);
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct held held = {0};
	bool wants = fd >= 0 && usage_held_read(fd, &held) == 0 && !held.packed && held.n;

	free(held.slots);
	return wants;
}

/* Returns the number below which all steps have ended. */
static uint64_t ended_below(const struct journal *j)
{
	uint64_t below = j->state->next_id;

	for (const struct step *s = j->open; s; s = s->next)
		below = MIN(below, (uint64_t)llabs(s->id));
	return below;
}

/* Returns whether there is work. Looks only at steps that are newer than those of the last look. */
static bool has_work(struct background *t)
{
	struct state *state = t->j->state;
	uint64_t end = ended_below(t->j);
	AUTO_NAMES struct names names = {0};

	state->tidied = MIN(MAX(state->tidied, t->done), end);
	if (store_names(t->j, "trash", &names) < 0)
		return true;
	if (names.n || end - state->tidied > LOOK_MAX)
		return true;
	for (; state->tidied < end; state->tidied++) {
		int64_t id = (int64_t)state->tidied;

		if (step_wants(t->j, id) || step_wants(t->j, -id))
			return true;
	}
	return false;
}

static int start(struct background *t)
{
	sigset_t all, old;
	int r;

	if (t->started)
		pthread_join(t->thread, NULL);
	t->over = false;
	pin_end();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&t->thread, NULL, background_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	t->started = r == 0;
	return -r;
}

/* Asks for a pass. Returns whether the thread runs; else it must be started. */
static bool want(struct background *t)
{
	bool runs;

	pthread_mutex_lock(&t->lock);
	runs = t->started && !t->over;
	t->wanted = true;
	t->below = ended_below(t->j);
	pthread_cond_signal(&t->change);
	pthread_mutex_unlock(&t->lock);
	return runs;
}

int journal_tidy(struct journal *j)
{
	if (!j->tidy)
		j->tidy = background_new(j);
	return want(j->tidy) || !has_work(j->tidy) ? 0 : start(j->tidy);
}

void background_hold(struct journal *j)
{
	struct background *t = j->tidy;

	if (!t)
		return;
	atomic_store(&t->stop, true); /* first, so that a running pass ends sooner */
	pthread_mutex_lock(&t->lock);
	t->whole = false;
	t->holds++;
	pthread_mutex_unlock(&t->lock);
}

void background_release(struct journal *j)
{
	struct background *t = j->tidy;

	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	if (--t->holds == 0 && !t->quit)
		atomic_store(&t->stop, false);
	pthread_mutex_unlock(&t->lock);
	if (journal_tidy(j) < 0)
		log_warn("journal", "what undo keeps is not compressed");
}

void background_end(struct journal *j)
{
	struct background *t = take_ptr(&j->tidy);

	if (!t)
		return;
	atomic_store(&t->stop, true);
	pthread_mutex_lock(&t->lock);
	t->quit = true;
	pthread_cond_signal(&t->change);
	pthread_mutex_unlock(&t->lock);
	if (t->started)
		pthread_join(t->thread, NULL);
	j->state->tidied = MIN(MAX(j->state->tidied, t->done), ended_below(j));
	background_free(t);
}

void background_once(struct journal *j)
{
	struct background *t = background_new(j);

	pass(t);
	background_free(t);
}
