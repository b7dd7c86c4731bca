/* test_gate_door - the keeper's side of the read gate, with a mounter that this test plays. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/gate/gate_priv.h"
#include "tests/support/check.h"

struct fixture {
	struct plan plan;
	int server, mounter[2]; /* our ends; the door has the other end of mounter[0] */
	struct door *door;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct gate_door_spec spec = {.plan = &f->plan};
	struct err err = {0};
	int server[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, server) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, f->mounter) < 0)
		return -1;
	f->server = server[1];
	spec.sock = server[0];
	spec.mounter = f->mounter[0];
	spec.page = gate_page_new(&err);
	f->door = spec.page ? gate_door_new(NULL, &spec) : NULL;
	*state = f;
	return f->door ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close(f->server);
	close(f->mounter[0]);
	if (f->mounter[1] >= 0)
		close(f->mounter[1]);
	free(f->door); /* closing it would ask a keeper */
	free(f);
	return 0;
}

/* Returns the number of the next note. */
static uint32_t take_note(struct fixture *f, const char *path)
{
	struct bind_note note;

	assert_true(recv(f->mounter[1], &note, sizeof(note), MSG_DONTWAIT) > 0);
	assert_string_equal(note.path, path);
	assert_true(note.number > 0);
	return note.number;
}

static void answer(struct fixture *f, uint32_t number, bool on)
{
	const struct bind_note note = {.number = number, .on = on};

	assert_true(send(f->mounter[1], &note, BIND_NOTE_HEAD + 1, 0) > 0);
}

static int show(struct fixture *f, const char *path)
{
	return f->door->ops->show_tool_dir(f->door, path);
}

TEST(a_late_answer_is_not_the_next_ones)
{
	struct fixture *f = *state;
	uint32_t late;

	assert_int_equal(show(f, "/home/u/.gradle"), -EIO); /* the answer comes too late */
	late = take_note(f, "/home/u/.gradle");
	answer(f, late, true);
	answer(f, late + 1, false); /* an answer about another directory */
	assert_int_equal(show(f, "/home/u/.m2"), -EEXIST);
	assert_int_equal(take_note(f, "/home/u/.m2"), late + 1);
	answer(f, late + 2, true);
	assert_int_equal(show(f, "/home/u/.m2"), 0);
}

TEST(a_dead_mounter_is_not_waited_for)
{
	struct fixture *f = *state;

	close(f->mounter[1]);
	f->mounter[1] = -1;
	assert_int_equal(show(f, "/home/u/.gradle"), -EIO);
}

TEST(a_path_that_is_too_long_is_no_place)
{
	char path[PATH_MAX + 1];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(show(*state, path), -EIO);
}

TESTS(set_up, tear_down)
