/* test_guests - processes of a guest: their commands, their ends, and guests that lie. */
/* SPDX-License-Identifier: MIT */
#define VM_ONE_STEP false
#include "tests/support/vmfs.h"

#include <signal.h>

#include "core/keeper/procs.h"
#include "core/keeper/guests.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/label.h"

#define AGENT 10

static int signalled, with;

static void on_signal(void *data, int pid, int sig)
{
	(void)data;
	signalled = pid;
	with = sig;
}

static void on_hold(void *data, bool hold)
{
	*(bool *)data = hold;
}

static bool held;
static const struct guest_ops ops = {.signal = on_signal, .hold = on_hold};

static int setup(void **state)
{
	struct vm *v = vm_new(true);

	guest_begin(&v->k, &ops, &held);
	guest_is_agent(&v->k, AGENT);
	*state = v;
	return 0;
}

static int teardown(void **state)
{
	vm_free(*state);
	return 0;
}

static void seen(struct vm *v, int pid, int parent, int group, const char *words)
{
	const struct guest_process g = {.pid = pid,
					.parent = parent,
					.group = group,
					.execed = words,
					.exe = "/bin/x",
					.argv = words ? words : "",
					.argv_len = words ? strlen(words) : 0};

	guest_seen(&v->k, &g);
}

static struct proc *at(struct vm *v, int pid)
{
	return proc_known(&v->k, GUEST_PIDS + pid);
}

TEST(what_is_cut_shows)
{
	struct vm *v = *state;
	char words[4097];

	memset(words, 'x', sizeof(words) - 1);
	words[4] = ' ';
	words[4096] = '\0';
	seen(v, 20, AGENT, 20, words);
	assert_non_null(strstr(at(v, 20)->command->label.data, "xx ..."));
	assert_false(label_is_whole(at(v, 20)->command->label.data));
	seen(v, 30, AGENT, 30, "make");
	assert_true(label_is_whole(at(v, 30)->command->label.data));
}

TEST(a_child_of_the_agent_is_a_command)
{
	struct vm *v = *state;
	struct caller c = {0};

	assert_int_equal(guest_caller(&v->k, 20, &c), -ESRCH);
	seen(v, 20, AGENT, 20, "make");
	seen(v, 21, 20, 20, "cc");
	assert_non_null(at(v, 20)->command);
	assert_ptr_equal(at(v, 20)->command, at(v, 21)->command);
	assert_string_equal(at(v, 20)->command->label.data, "make");
	seen(v, 30, AGENT, 30, "a");
	seen(v, 31, AGENT, 30, "b");
	assert_ptr_equal(at(v, 30)->command, at(v, 31)->command);
	assert_string_equal(at(v, 30)->command->label.data, "a | b");
	assert_ptr_not_equal(at(v, 30)->command, at(v, 20)->command);
	assert_int_equal(guest_caller(&v->k, 21, &c), 0);
	assert_ptr_equal(c.proc, at(v, 21));
	assert_int_equal(guest_anybody(&v->k, &c), 0);
	assert_ptr_equal(c.proc, at(v, AGENT));
	assert_null(c.proc->command);
}

TEST(a_command_has_its_name_by_what_it_executes)
{
	struct vm *v = *state;

	seen(v, 20, AGENT, 20, NULL);
	assert_string_equal(at(v, 20)->command->label.data, "");
	seen(v, 20, AGENT, 20, "sort");
	assert_string_equal(at(v, 20)->command->label.data, "sort");
}

TEST(its_end_is_that_of_its_processes)
{
	struct vm *v = *state;
	struct command *c;

	seen(v, 20, AGENT, 20, "make");
	c = at(v, 20)->command;
	assert_int_equal(c->quiet_at, 0);
	guest_left(&v->k, 20, 3);
	assert_null(at(v, 20));
	assert_true(c->quiet_at > 0);
	guest_left(&v->k, 20, 3); /* harmless */
}

TEST(signals_go_to_the_guest)
{
	struct vm *v = *state;

	seen(v, 20, AGENT, 20, "make");
	proc_signal(at(v, 20), SIGSTOP);
	assert_int_equal(signalled, 0);
	proc_signal(at(v, 20), SIGKILL);
	assert_int_equal(signalled, 20);
	assert_int_equal(with, SIGKILL);
	guest_hold(&v->k, true);
	assert_true(held);
}

/* Whatever it reports, no process is its own ancestor, and the table is bounded. */
TEST(a_guest_that_lies_hurts_nobody)
{
	static const int pids[] = {0, -1, INT32_MIN, INT32_MAX, GUEST_PIDS, 1 << 22};
	struct vm *v = *state;

	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		seen(v, pids[i], pids[i], pids[i], "x");
		guest_left(&v->k, pids[i], 0);
		guest_is_agent(&v->k, pids[i]);
	}
	assert_int_equal(v->k.n_guests, 1);
	seen(v, 40, 41, 40, NULL);
	seen(v, 41, 40, 41, NULL);
	assert_int_equal(at(v, 40)->parent, 0);
	seen(v, 42, 42, 42, NULL);
	assert_int_equal(at(v, 42)->parent, 0);
	guest_left(&v->k, 40, 0);
	assert_int_equal(at(v, 41)->parent, 0);
	seen(v, 40, 41, 40, NULL);
	assert_int_equal(at(v, 40)->parent, GUEST_PIDS + 41);
	for (int pid = 100; pid < 20000; pid++)
		seen(v, pid, AGENT, pid, NULL);
	assert_true(v->k.n_guests < 10000);
	for (int pid = 100; pid < 20000; pid++)
		guest_left(&v->k, pid, 0);
	assert_int_equal(v->k.n_guests, 4);
}

TESTS(setup, teardown)
