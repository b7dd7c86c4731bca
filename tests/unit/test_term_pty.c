/* test_term_pty - the pty under the pane: sizes, pumping, the queue, the end. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "tests/unit/term_fixture.h"
#include "tui/term/pty.h"

struct rig {
	struct pane pane;
	struct pty pty;
	int slave;
};

static int setup(void **state)
{
	static struct rig r;
	struct err err = {0};

	pane_init(&r.pane, 4, 20);
	if (pty_open(&r.pty, 4, 20, &r.slave, &err) < 0)
		fail_msg("%s", err.text);
	*state = &r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	util_close_fd(&r->slave);
	pty_done(&r->pty);
	pty_done(&r->pty);
	pane_done(&r->pane);
	return 0;
}

TEST(descriptors_are_closed_on_exec)
{
	struct rig *r = *state;

	assert_true(fcntl(r->pty.fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(r->slave, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(r->pty.fd, F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(r->slave, F_GETFL) & O_NONBLOCK);
}

TEST(sizes_reach_the_other_side)
{
	struct rig *r = *state;
	struct winsize ws;

	assert_int_equal(ioctl(r->slave, TIOCGWINSZ, &ws), 0);
	assert_int_equal(ws.ws_row, 4);
	assert_int_equal(ws.ws_col, 20);
	assert_int_equal(pty_resize(&r->pty, 0, 50), 0);
	assert_int_equal(ioctl(r->slave, TIOCGWINSZ, &ws), 0);
	assert_int_equal(ws.ws_row, TERM_MIN);
	assert_int_equal(ws.ws_col, 50);
}

static int pump(struct rig *r)
{
	int n;

	do
		n = pty_pump(&r->pty, r->pane.t, 8000);
	while (n > 0);
	return n;
}

TEST(what_is_printed_is_drawn_until_the_end)
{
	struct rig *r = *state;

	assert_int_equal(pump(r), 0);
	assert_int_equal(io_write_all(r->slave, "one\ntwo", 7), 0);
	assert_int_equal(pump(r), 0);
	assert_string_equal(pane_screen(&r->pane), "one|two|||");
	assert_int_equal(io_write_all(r->slave, "!", 1), 0);
	util_close_fd(&r->slave);
	r->slave = -1;
	assert_int_equal(pump(r), -EIO);
	assert_string_equal(pane_screen(&r->pane), "one|two!|||");
}

TEST(a_used_up_budget_loses_nothing)
{
	struct rig *r = *state;
	int n, turns = 0;

	for (int i = 0; i < 200; i++)
		assert_int_equal(io_write_all(r->slave, "\033[2J\033[Hx", 8), 0);
	assert_int_equal(io_write_all(r->slave, "\nlast", 5), 0);
	while ((n = pty_pump(&r->pty, r->pane.t, 0)) > 0)
		turns++;
	assert_int_equal(n, 0);
	assert_true(turns > 0);
	assert_string_equal(pane_screen(&r->pane), "x|last|||");
}

TEST(input_arrives_whole_or_not_at_all)
{
	struct rig *r = *state;
	char line[8], *big = malloc(PTY_QUEUE_MAX);

	assert_int_equal(pty_write(&r->pty, "hello\n", 6), 0);
	assert_false(pty_wants_write(&r->pty));
	assert_int_equal(read(r->slave, line, sizeof(line)), 6);
	/* Without a reader the queue fills, and reports that. */
	memset(big, '\n', PTY_QUEUE_MAX);
	assert_int_equal(pty_write(&r->pty, big, PTY_QUEUE_MAX / 2), 0);
	assert_true(pty_wants_write(&r->pty));
	assert_int_equal(pty_write(&r->pty, big, PTY_QUEUE_MAX), -ENOBUFS);
	assert_true(r->pty.queue.len - r->pty.sent <= PTY_QUEUE_MAX / 2);
	free(big);
}

TESTS(setup, teardown)
