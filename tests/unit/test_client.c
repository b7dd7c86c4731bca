/* test_client - cordon's end of the keeper's socket. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/keeper/client.h"
#include "tests/support/check.h"

static const struct answer once = {.allow = true};

struct fixture {
	struct client *c;
	int peer;
	struct buf out; /* frames to send to the client */
	struct buf log; /* one line per event */
};

static void on_event(void *data, enum wire_type type, const struct client_event *ev)
{
	struct fixture *f = data;

	buf_fmt(&f->log, "%d id=%d step=%d pid=%d r=%d op=%s path=%s path2=%s reason=%s", (int)type,
		(int)ev->id, (int)ev->step, (int)ev->pid, ev->result, ev->op ? ev->op : "-",
		ev->path ? ev->path : "-", ev->path2 ? ev->path2 : "-",
		ev->reason ? ev->reason : "-");
	if (ev->command)
		buf_fmt(&f->log, " command=%s/%zu", ev->command, ev->command_len);
	for (size_t i = 0; ev->plan && i < ev->plan->n_barriers; i++)
		buf_fmt(&f->log, " %lld:%zu:%s", (long long)ev->plan->barriers[i].after,
			ev->plan->barriers[i].count, ev->plan->barriers[i].paths[0]);
	for (size_t i = 0; ev->plan && i < ev->plan->n_entries; i++) {
		const struct undo_entry *e = &ev->plan->entries[i];

		buf_fmt(&f->log, " %c%s%s%d%s%s", e->what, e->path, e->conflict ? "!" : "", e->fate,
			e->why ? e->why : "", e->base ? e->base : "");
	}
	buf_ch(&f->log, '\n');
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	f->c = client_new(pair[0], on_event, f);
	f->peer = pair[1];
	f->out = f->log = (struct buf)BUF_INIT;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	client_free(f->c);
	util_close_fd(&f->peer);
	buf_done(&f->out);
	buf_done(&f->log);
	free(f);
	return 0;
}

static void put_touch(struct fixture *f, const char *path)
{
	size_t mark = wire_begin(&f->out, WIRE_TOUCH);

	wire_i64(&f->out, 3);
	wire_i64(&f->out, 42);
	wire_u32(&f->out, 0);
	wire_cstr(&f->out, "unlink");
	wire_cstr(&f->out, path);
	wire_cstr(&f->out, NULL);
	wire_cstr(&f->out, NULL);
	wire_end(&f->out, mark);
}

TEST(events_arrive_byte_by_byte)
{
	struct fixture *f = *state;
	size_t mark;

	put_touch(f, "/a");
	mark = wire_begin(&f->out, WIRE_EXEC);
	wire_i64(&f->out, 0);
	wire_i64(&f->out, 42);
	wire_i64(&f->out, 1);
	wire_cstr(&f->out, "/bin/ls");
	wire_str(&f->out, "ls\0-l\0", 6);
	wire_end(&f->out, mark);
	for (size_t i = 0; i < f->out.len; i++) {
		assert_int_equal(io_write_all(f->peer, f->out.data + i, 1), 0);
		assert_int_equal(client_read(f->c), 0);
	}
	assert_string_equal(f->log.data,
			    "3 id=0 step=3 pid=42 r=0 op=unlink path=/a path2= reason=\n"
			    "5 id=0 step=0 pid=42 r=0 op=- path=/bin/ls path2=- reason=- "
			    "command=ls/6\n");
}

TEST(many_frames_come_in_one_read)
{
	struct fixture *f = *state;
	size_t lines = 0;

	for (int i = 0; i < 500; i++)
		put_touch(f, "/some/path");
	assert_int_equal(io_write_all(f->peer, f->out.data, f->out.len), 0);
	util_close_fd(&f->peer);
	assert_int_equal(client_read(f->c), -EPIPE); /* after all frames were dispatched */
	for (const char *p = f->log.data; (p = strchr(p, '\n')); p++)
		lines++;
	assert_int_equal(lines, 500);
}

TEST(a_plan_comes_whole)
{
	struct fixture *f = *state;
	size_t mark = wire_begin(&f->out, WIRE_PLAN);

	wire_u64(&f->out, 9);
	wire_u8(&f->out, UNDO_BACK);
	wire_u64(&f->out, 2);
	wire_u32(&f->out, UNDO_KEEP_MINE);
	wire_u64(&f->out, 1); /* conflicts, stops, entries, seal */
	wire_u64(&f->out, 0);
	wire_u64(&f->out, 2);
	wire_u64(&f->out, 77);
	wire_u32(&f->out, 1);
	wire_i64(&f->out, 5);
	wire_u32(&f->out, 1);
	wire_i64(&f->out, 1);
	wire_i64(&f->out, 2);
	wire_u64(&f->out, 30);
	wire_i64(&f->out, 5);
	wire_u8(&f->out, 0); /* not a step of the user */
	wire_u32(&f->out, 1);
	wire_cstr(&f->out, "notes");
	wire_u32(&f->out, 2);
	for (int i = 0; i < 2; i++) {
		wire_u8(&f->out, i ? 'D' : 'M');
		wire_u8(&f->out, !i);
		wire_u8(&f->out, i ? FATE_STOPS : FATE_KEPT);
		wire_u32(&f->out, 0);
		wire_cstr(&f->out, i ? "b" : "a");
		wire_cstr(&f->out, "");
		wire_cstr(&f->out, i ? "" : "why");
		wire_cstr(&f->out, i ? "/base" : "");
	}
	wire_end(&f->out, mark);
	assert_int_equal(io_write_all(f->peer, f->out.data, f->out.len), 0);
	assert_int_equal(client_read(f->c), 0);
	assert_string_equal(f->log.data, "12 id=9 step=0 pid=0 r=0 op=- path=- path2=- reason=- "
					 "5:30:notes Ma!2why Db0/base\n");
}

TEST(nonsense_is_refused_for_good)
{
	struct fixture *f = *state;
	size_t mark = wire_begin(&f->out, WIRE_PLAN);

	for (int i = 0; i < 6; i++)
		wire_u64(&f->out, 0);
	wire_u32(&f->out, 0);
	wire_u8(&f->out, 0);
	wire_u32(&f->out, UINT32_MAX); /* more ids than fit into any frame */
	wire_end(&f->out, mark);
	put_touch(f, "/a");
	assert_int_equal(io_write_all(f->peer, f->out.data, f->out.len), 0);
	assert_int_equal(client_read(f->c), -EBADMSG);
	assert_int_equal(client_read(f->c), -EBADMSG);
	assert_string_equal(f->log.data, "");
}

TEST(requests_wait_until_the_keeper_reads)
{
	struct fixture *f = *state;
	AUTO_BUF struct buf in = BUF_INIT;
	size_t at = 0, used, frames = 0, wanted = 50000;
	struct wire_in w;

	for (size_t i = 0; i < wanted; i++)
		client_answer(f->c, i, &once);
	assert_true(client_wants_write(f->c));
	while (frames < wanted) {
		struct buf rest;
		ssize_t n;

		client_write(f->c);
		buf_reserve(&in, 65536);
		n = recv(f->peer, in.data + in.len, 65536, MSG_DONTWAIT);
		assert_true(n > 0);
		in.len += (size_t)n;
		for (; rest = (struct buf){.data = in.data + at, .len = in.len - at},
		       wire_next(&rest, &w, &used) == 1;
		     at += used)
			assert_int_equal(wire_get_u64(&w), frames++);
	}
	assert_false(client_wants_write(f->c));
}

TEST(too_many_paths_restore_nothing)
{
	struct fixture *f = *state;
	AUTO_FREE char *path = xcalloc(1, 4096);
	const char **paths = xcalloc(401, sizeof(*paths));

	memset(path, 'p', 4000);
	for (int i = 0; i < 400; i++)
		paths[i] = path;
	assert_int_equal(client_restore(f->c, 1, paths, 0), 0);
	assert_false(client_wants_write(f->c));
	paths[1] = NULL;
	assert_int_equal(client_restore(f->c, 1, paths, 0), 1);
	free(paths);
}

TEST(last_words_are_heard_after_a_send_that_failed)
{
	struct fixture *f = *state;
	size_t mark = wire_begin(&f->out, WIRE_START_FAILED);

	wire_u32(&f->out, 125);
	wire_cstr(&f->out, "why");
	wire_end(&f->out, mark);
	assert_int_equal(io_write_all(f->peer, f->out.data, f->out.len), 0);
	util_close_fd(&f->peer);
	client_stop(f->c);
	assert_int_equal(client_read(f->c), -EPIPE);
	assert_non_null(strstr(f->log.data, "reason=why"));
}

/* Of two descriptors in one message, a receiver of one closes the other. */
TEST_WITH(no_second_descriptor_stays_open, NULL, NULL)
{
	int pair[2], ends[2], got = -1;
	char byte;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(io_send_fds(pair[0], "x", 1, (const int[]){ends[1], ends[1]}, 2, 0), 1);
	close(ends[1]);
	assert_int_equal(io_recv_fd(pair[1], &byte, 1, &got), 1);
	assert_true(got >= 0);
	close(got);
	assert_int_equal(read(ends[0], &byte, 1), 0); /* no writer is left */
	close(ends[0]);
	close(pair[0]);
	close(pair[1]);
}

TESTS(setup, teardown)
