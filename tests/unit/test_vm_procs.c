/* test_vm_procs - messages of the keeper to a guest, when its socket is full. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/vmfs.h"

#include "backends/vm/fs/fs_server.h"
#include "backends/vm/guest_procs.h"
#include "backends/vm/monitor/guest_word.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/guests.h"

static const struct fs_callers *callers;
static void *data;
static int monitor, keepers;

/* In the server's place. */
void fs_server_set_callers(struct fs_server *s, const struct fs_callers *c, void *d)
{
	(void)s;
	callers = c;
	data = d;
}

void fs_server_known(struct fs_server *s, int tid)
{
	(void)s;
	(void)tid;
}

static struct guest_procs *procs;

static int setup(void **state)
{
	struct vm *v = vm_new(true);
	struct err err = {0};
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	monitor = fds[0];
	keepers = fcntl(fds[1], F_DUPFD_CLOEXEC, 3);
	assert_int_equal(guest_procs_new(&procs, &v->k, NULL, fds[1], &err), 0);
	guest_is_agent(&v->k, 10);
	*state = v;
	return 0;
}

static int teardown(void **state)
{
	guest_procs_free(procs);
	close(monitor);
	close(keepers);
	vm_free(*state);
	return 0;
}

static void fill(void)
{
	const struct guest_word w = {.kind = WORD_WHO};

	while (write(keepers, &w, WORD_HEAD) > 0)
		continue;
	assert_int_equal(errno, EAGAIN);
}

/* Returns the next message other than a question; kind 0: none. */
static struct guest_word heard(void)
{
	struct guest_word w;
	ssize_t n;

	while ((n = read(monitor, &w, sizeof(w))) > 0)
		if (w.kind != WORD_WHO)
			return w;
	assert_int_equal(errno, EAGAIN);
	return (struct guest_word){0};
}

TEST(what_does_not_fit_is_said_later)
{
	struct vm *v = *state;

	fill();
	guest_hold(&v->k, true);
	callers->rolled_back(data, 7);
	callers->tick(data);
	assert_int_equal(heard().kind, 0);
	callers->tick(data);
	assert_int_equal(heard().number, 7);
	assert_int_equal(heard().kind, WORD_HOLD);
	fill();
	guest_hold(&v->k, false);
	assert_int_equal(heard().kind, 0);
	callers->tick(data);
	assert_int_equal(heard().kind, WORD_GO_ON);
	callers->tick(data);
	assert_int_equal(heard().kind, 0);
}

/* Of two messages only the last one counts. */
TEST(a_hold_that_is_over_is_not_said)
{
	struct vm *v = *state;

	fill();
	guest_hold(&v->k, true);
	guest_hold(&v->k, false);
	assert_int_equal(heard().kind, 0);
	callers->tick(data);
	assert_int_equal(heard().kind, WORD_GO_ON);
	assert_int_equal(heard().kind, 0);
}

/* A guest that reports its agent as gone has no process to own its changes: nor has the host. */
TEST(nobody_of_the_hosts_stands_for_the_guests)
{
	struct vm *v = *state;
	struct caller c = {0};

	assert_int_equal(callers->find(data, 0, &c), 0);
	assert_int_equal(c.pid, GUEST_PIDS + 10);
	guest_left(&v->k, 10, 0);
	assert_int_equal(callers->find(data, 0, &c), -ESRCH);
	assert_int_equal(callers->find(data, (int)getpid(), &c), -EAGAIN);
	assert_int_equal(guest_caller(&v->k, (int)getpid(), &c), -ESRCH);
}

TESTS(setup, teardown)
