/* test_gateway - the keeper's notes to a relay that does not read for a while. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "backends/linux/net/gateway.h"
#include "tests/support/check.h"
#include "tests/unit/fake_keeper.h"

enum {
	ENDED = 3 /* connections that end while the socket is full */
};

/* ---- the keeper's loop, as far as it goes ---------------------------------------- */

int keeper_watch(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	return keeper_watch_write(k, fd, fn, data);
}

static size_t watches(void)
{
	size_t n = 0;

	for (size_t i = 0; i < FAKE_WATCH; i++)
		n += fake.watch[i].fn != NULL;
	return n;
}

/* The first watch is for the relay's notes, another one for room in the socket. */
static void turn(void)
{
	for (size_t i = 0; i < FAKE_WATCH; i++) {
		struct pollfd p = {.fd = fake.watch[i].fd, .events = i ? POLLOUT : POLLIN};

		if (fake.watch[i].fn && poll(&p, 1, 10) == 1)
			fake.watch[i].fn(fake.watch[i].data);
	}
}

/* ---- the relay: stops when it is up, then counts --------------------------------- */

static void say(int sock, const struct net_note *note)
{
	if (send(sock, note, sizeof(*note), 0) != (ssize_t)sizeof(*note))
		_exit(1);
}

NORETURN void relay_run(const struct relay_spec *spec)
{
	struct net_note note = {.what = NET_READY};
	uint64_t next = 1;

	say(spec->sock, &note);
	raise(SIGSTOP);
	while (next <= ENDED && recv(spec->sock, &note, sizeof(note), 0) == (ssize_t)sizeof(note))
		if (note.what == NET_END && note.id == next)
			next++;
	note = (struct net_note){.what = NET_CLOSED, .id = next};
	say(spec->sock, &note);
	for (;;)
		pause();
}

/* ---- the test -------------------------------------------------------------------- */

static struct {
	bool ready;
	uint64_t next;
} heard;

static void on_ready(void *data, int code)
{
	(void)data;
	heard.ready = code == 0;
}

static void on_note(void *data, const struct net_note *note)
{
	(void)data;
	heard.next = note->id;
}

TEST(an_end_waits_for_room)
{
	const struct gateway_listener on = {.ready = on_ready, .heard = on_note};
	int inside[16], status, sent = 0;
	struct net_note note = {.what = NET_DIAL};
	struct gateway *g;
	size_t before;
	pid_t relay;

	memset(inside, -1, sizeof(inside));
	g = gateway_new(&fake, -1, -1, inside);
	gateway_listen(g, &on, NULL);
	assert_int_equal(gateway_start(g), 0);
	relay = waitpid(-1, &status, WUNTRACED);
	assert_true(relay > 0);
	assert_true(WIFSTOPPED(status));
	while (!heard.ready)
		turn();
	before = watches();
	while (gateway_send(g, &note))
		sent++;
	assert_true(sent > 0);
	note.what = NET_END;
	for (note.id = 1; note.id <= ENDED; note.id++)
		assert_true(gateway_send(g, &note));
	note.what = NET_DIAL;
	assert_false(gateway_send(g, &note)); /* a dial fails at once */
	for (int i = 0; i < 3; i++)
		turn();
	assert_int_equal(heard.next, 0);
	assert_int_equal(kill(relay, SIGCONT), 0);
	while (!heard.next)
		turn();
	assert_int_equal(heard.next, ENDED + 1);
	assert_int_equal(watches(), before);
	assert_true(gateway_send(g, &note));
	gateway_free(g);
	assert_int_equal(watches(), 0);
}

TESTS(NULL, NULL)
