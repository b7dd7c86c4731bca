/* unconfined - a thread that may change granted places outside the keeper's confinement. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/unconfined.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "core/base/pin.h"
#include "core/keeper/state.h"
#include "core/os/process.h"

/*
 * The keeper confines itself with Landlock before the agent starts, and that cannot be undone.
 * Landlock is per thread: one thread, made before, stays unconfined and changes places that the
 * user grants later. It decides nothing: it runs one function at a time while the keeper's own
 * thread waits.
 */
struct outside {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t change;
	int (*fn)(void *arg); /* NULL: idle */
	void *arg;
	int result;
	bool stop;
};

static void *outside_main(void *data)
{
	struct outside *o = data;

	os_set_name("cordon-grants");
	pthread_mutex_lock(&o->mutex);
	while (!o->stop) {
		if (!o->fn) {
			pthread_cond_wait(&o->change, &o->mutex);
			continue;
		}
		o->result = o->fn(o->arg);
		o->fn = NULL;
		pthread_cond_broadcast(&o->change);
	}
	pthread_mutex_unlock(&o->mutex);
	return NULL;
}

int outside_start(struct keeper *k, struct err *err)
{
	struct outside *o = xcalloc(1, sizeof(*o));
	sigset_t all, old;
	int r;

	pthread_mutex_init(&o->mutex, NULL);
	pthread_cond_init(&o->change, NULL);
	pin_end();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&o->thread, NULL, outside_main, o);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r) {
		free(o);
		return err_set(err, -r, "start the keeper's second thread");
	}
	k->outside = o;
	return 0;
}

void outside_stop(struct keeper *k)
{
	struct outside *o = take_ptr(&k->outside);

	if (!o)
		return;
	pthread_mutex_lock(&o->mutex);
	o->stop = true;
	pthread_cond_broadcast(&o->change);
	pthread_mutex_unlock(&o->mutex);
	pthread_join(o->thread, NULL);
	pthread_cond_destroy(&o->change);
	pthread_mutex_destroy(&o->mutex);
	free(o);
}

int folder_run_outside(struct keeper *k, int (*fn)(void *arg), void *arg)
{
	struct outside *o = k->outside;
	int r;

	if (!o)
		return -EPERM;
	pthread_mutex_lock(&o->mutex);
	o->fn = fn;
	o->arg = arg;
	pthread_cond_broadcast(&o->change);
	while (o->fn)
		pthread_cond_wait(&o->change, &o->mutex);
	r = o->result;
	pthread_mutex_unlock(&o->mutex);
	return r;
}
