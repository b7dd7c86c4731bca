/* test_guest_door - a guest's connections: held, answered, given up; and false messages. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "backends/linux/door/guest_door.h"
#include "backends/linux/net/gateway.h"
#include "backends/linux/net/guest_note.h"
#include "tests/support/check.h"
#include "tests/unit/fake_keeper.h"

#define WAIT_MS 20000

static const struct net_addr first = {{[10] = 0xff, 0xff, 203, 0, 113, 7}},
			     other = {{[10] = 0xff, 0xff, 203, 0, 113, 8}};

/* ---- the keeper's loop, as far as it goes ---------------------------------------- */

int keeper_watch(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	return keeper_watch_write(k, fd, fn, data);
}

void keeper_warn(struct keeper *k, const char *fmt, ...)
{
	(void)fmt;
	k->denied++;
}

/* Runs the relay until the process of frames has been answered. */
static void turn(int frames)
{
	for (int i = 0; i < WAIT_MS / 10; i++) {
		struct pollfd p = {.fd = frames, .events = POLLIN};

		for (size_t k = 0; k < FAKE_WATCH; k++) {
			struct pollfd w = {.fd = fake.watch[k].fd, .events = POLLIN};

			if (fake.watch[k].fn && poll(&w, 1, 0) == 1)
				fake.watch[k].fn(fake.watch[k].data);
		}
		if (poll(&p, 1, 10) == 1)
			return;
	}
	fail_msg("no answer");
}

/* ---- the relay: dials nobody but the first address, where nobody listens --------- */

NORETURN void relay_run(const struct relay_spec *spec)
{
	struct net_note note = {.what = NET_READY};

	if (!spec->guest || send(spec->sock, &note, sizeof(note), 0) < 0)
		_exit(1);
	while (recv(spec->sock, &note, sizeof(note), 0) == (ssize_t)sizeof(note)) {
		if (note.what != NET_DIAL)
			continue;
		if (!net_addr_eq(&note.at, &first) || note.code != 1) /* there is time */
			_exit(1);
		note.what = NET_DIALLED;
		note.code = -ECONNREFUSED;
		if (send(spec->sock, &note, sizeof(note), 0) < 0)
			_exit(1);
	}
	_exit(0);
}

/* ---- the process of frames ------------------------------------------------------- */

struct fixture {
	struct door *door;
	int frames;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	int inside[INSIDE_SOCKETS], fds[2];
	struct guest_door_spec spec = {.k = &fake, .program = "/usr/bin/agent"};

	memset(&fake, 0, sizeof(fake));
	memset(inside, -1, sizeof(inside));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	spec.sock = fds[0];
	spec.gateway = gateway_new(&fake, -1, -1, inside);
	gateway_serve_guest(spec.gateway);
	f->door = guest_door_new(&spec);
	f->frames = fds[1];
	fake.hold_flows = true;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	f->door->ops->close(f->door);
	close(f->frames);
	free(f);
	return 0;
}

static int say(struct fixture *f, enum guest_what what, uint64_t id, const struct net_addr *to,
	       uint16_t port)
{
	struct guest_note note = {.what = what, .id = id, .port = port};

	if (to)
		note.to = *to;
	assert_int_equal(send(f->frames, &note, sizeof(note), 0), (ssize_t)sizeof(note));
	return f->door->ops->serve(f->door, POLLIN);
}

/* The relay starts with the first connection, which is judged only then. */
static void wait_judged(unsigned long n)
{
	for (int i = 0; i < WAIT_MS / 10 && fake.flows < n; i++)
		for (size_t k = 0; k < FAKE_WATCH; k++) {
			struct pollfd w = {.fd = fake.watch[k].fd, .events = POLLIN};

			if (fake.watch[k].fn && poll(&w, 1, 10) == 1)
				fake.watch[k].fn(fake.watch[k].data);
		}
	assert_int_equal(fake.flows, n);
}

static void answered(struct fixture *f, enum guest_what what, uint64_t id)
{
	struct guest_note note;

	turn(f->frames);
	assert_int_equal(recv(f->frames, &note, sizeof(note), MSG_DONTWAIT), (ssize_t)sizeof(note));
	assert_int_equal(note.what, what);
	assert_int_equal(note.id, id);
}

/* ---- the tests ------------------------------------------------------------------- */

TEST(what_is_allowed_is_dialled)
{
	struct fixture *f = *state;

	say(f, GUEST_SYN, 7, &first, 443);
	wait_judged(1);
	assert_int_equal(fake.last_port, 443);
	f->door->ops->answered(f->door, fake.held, VERDICT_ALLOW);
	answered(f, GUEST_REFUSE, 7); /* no listener there */
	assert_int_equal(fake.flows, 2);
}

TEST(what_is_denied_is_refused)
{
	struct fixture *f = *state;

	say(f, GUEST_SYN, 7, &first, 443);
	wait_judged(1);
	f->door->ops->answered(f->door, fake.held, VERDICT_DENY);
	answered(f, GUEST_REFUSE, 7);
	fake.hold_flows = false;
	say(f, GUEST_SYN, 8, &first, 443); /* without a question */
	answered(f, GUEST_REFUSE, 8);
	fake.hold_flows = true;
	say(f, GUEST_SYN, 9, &first, 443);
	f->door->ops->drop_all(f->door);
	answered(f, GUEST_REFUSE, 9);
}

TEST(who_gives_up_is_not_asked_about)
{
	struct fixture *f = *state;
	struct pollfd p = {.fd = f->frames, .events = POLLIN};

	say(f, GUEST_SYN, 7, &first, 443);
	wait_judged(1);
	say(f, GUEST_GONE, 8, NULL, 0);
	assert_int_equal(fake.gone, 0);
	say(f, GUEST_GONE, 7, NULL, 0);
	assert_int_equal(fake.gone, 1);
	f->door->ops->answered(f->door, fake.held, VERDICT_ALLOW); /* too late */
	assert_int_equal(poll(&p, 1, 0), 0);
}

/* One answer is for one connection, whatever a hijacked process of the guest sends. */
TEST(an_answer_is_for_what_was_shown)
{
	struct fixture *f = *state;

	say(f, GUEST_SYN, 7, &first, 443);
	wait_judged(1);
	say(f, GUEST_SYN, 7, &other, 22);
	say(f, GUEST_SYN, 7 | 1ull << 60, &other, 22);
	say(f, GUEST_SYN, 8, &other, 0); /* port 0 is any port to a rule */
	say(f, GUEST_PASS, 7, &other, 22);
	say(f, (enum guest_what)99, 7, &other, 22);
	assert_int_equal(fake.flows, 1);
	f->door->ops->answered(f->door, fake.held, VERDICT_ALLOW);
	answered(f, GUEST_REFUSE, 7); /* the first dial's answer; another's would end the relay */
	assert_int_equal(fake.last_port, 443);
}

TEST(its_end_is_told)
{
	struct fixture *f = *state;

	say(f, GUEST_SYN, 7, &first, 443);
	wait_judged(1);
	shutdown(f->frames, SHUT_RDWR);
	assert_int_equal(f->door->ops->serve(f->door, POLLIN), -EPIPE);
	assert_int_equal(fake.denied, 1);
}

TESTS(setup, teardown)
