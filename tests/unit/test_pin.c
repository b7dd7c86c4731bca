/* test_pin - a thread bound to its processor, and the threads that it starts meanwhile. */
/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/pin.h"
#include "tests/support/check.h"

static cpu_set_t all; /* processors that the test may use */

static bool has_all(void)
{
	cpu_set_t now;

	return sched_getaffinity(0, sizeof(now), &now) == 0 && CPU_EQUAL(&now, &all);
}

static bool has_only(int cpu)
{
	cpu_set_t now;

	return sched_getaffinity(0, sizeof(now), &now) == 0 && CPU_COUNT(&now) == 1 &&
	       CPU_ISSET(cpu, &now);
}

static int first(void)
{
	int cpu = 0;

	while (!CPU_ISSET(cpu, &all))
		cpu++;
	return cpu;
}

TEST(is_kept_and_let_go)
{
	int cpu = first();

	assert_false(pin_here(-1));
	assert_false(pin_here(CPU_SETSIZE));
	pin_end();
	assert_true(has_all());
	assert_true(pin_here(cpu));
	assert_true(has_only(cpu));
	assert_int_equal(sched_getcpu(), cpu);
	assert_true(pin_here(cpu)); /* a second call changes nothing */
	assert_true(pin_is_held());
	pin_end();
	assert_false(pin_is_held());
	assert_true(has_all());
	pin_end();
	assert_true(has_all());
}

TEST(what_is_forked_has_all)
{
	int status;
	pid_t pid;

	assert_true(pin_here(first()));
	pid = fork();
	if (pid == 0)
		_exit(has_all() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(pin_is_held());
	assert_true(has_all());
}

static void *ends(void *arg)
{
	(void)arg;
	pin_end(); /* from another thread */
	return pin_is_held() ? arg : NULL;
}

TEST(is_the_threads_own)
{
	int cpu = first();
	pthread_t t;
	void *got;

	assert_true(pin_here(cpu));
	assert_int_equal(pthread_create(&t, NULL, ends, &cpu), 0);
	assert_int_equal(pthread_join(t, &got), 0);
	assert_null(got);
	assert_true(pin_is_held());
	assert_true(has_only(cpu));
	pin_end();
	assert_true(has_all());
}

/* An administrator removes processors meanwhile: their setting stays. */
TEST(what_others_set_stays)
{
	int cpu = first(), other = cpu + 1;
	cpu_set_t set;

	while (other < CPU_SETSIZE && !CPU_ISSET(other, &all))
		other++;
	if (other == CPU_SETSIZE)
		skip();
	CPU_ZERO(&set);
	CPU_SET(other, &set);
	assert_true(pin_here(cpu));
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	pin_end();
	assert_true(has_only(other));
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);

	assert_true(pin_here(cpu));
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	assert_true(pin_here(other)); /* the set that the thread has by then */
	pin_end();
	assert_true(has_only(other));
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* Its former set no longer exists: if the kernel refuses it, any processor is allowed. */
TEST(a_set_that_is_gone_is_any)
{
	cpu_set_t none;

	CPU_ZERO(&none);
	assert_true(pin_here(first()));
	pin_set_free(0, &none);
	assert_true(sched_getaffinity(0, sizeof(none), &none) == 0);
	assert_true(CPU_COUNT(&none) >= CPU_COUNT(&all));
	pin_end();
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
	sched_getaffinity(0, sizeof(all), &all);
	return run_all(NULL, NULL, NULL, NULL);
}
