/* test_record - a recording returns what the recorder wrote; a damaged one shows its sound part. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/record/cast.h"
#include "core/record/recorder.h"
#include "core/record/recording.h"
#include "core/record/redact.h"
#include "core/record/ring.h"
#include "tests/support/check.h"

struct place {
	char dir[64], path[96];
	struct err err;
	struct recorder *rec;
	struct recording *in;
	struct buf text;
	int fd; /* the recorder's, once it was redirected */
};

static int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));

	snprintf(p->dir, sizeof(p->dir), "/tmp/cordon-record-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/r", p->dir);
	p->text = (struct buf)BUF_INIT;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	recorder_close(p->rec);
	recording_free(p->in);
	buf_done(&p->text);
	assert_int_equal(io_remove_tree(AT_FDCWD, p->dir), 0);
	free(p);
	return 0;
}

static void begin_with(struct place *p, int64_t max, const char *const *patterns)
{
	struct redact *redact;
	int fd = open(p->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(redact_new(&redact, patterns, &p->err), 0);
	assert_int_equal(recorder_open(&p->rec,
				       &(struct recorder_spec){.fd = fd,
							       .cols = 80,
							       .rows = 24,
							       .session = "s1",
							       .folder = "/w",
							       .command = "sh",
							       .max_bytes = max,
							       .redact = redact},
				       &p->err),
			 0);
}

static void begin(struct place *p)
{
	begin_with(p, 0, NULL);
}

static void say(struct place *p, const char *s)
{
	recorder_output(p->rec, s, strlen(s));
}

static void finish(struct place *p)
{
	recorder_close(p->rec);
	p->rec = NULL;
}

static int look(struct place *p)
{
	int fd = open(p->path, O_RDONLY | O_CLOEXEC);

	recording_free(p->in);
	p->in = NULL;
	return recording_open(&p->in, fd, &p->err);
}

/* Returns all events of one code, joined. */
static const char *all(struct place *p, char code)
{
	struct batch b = BATCH_INIT;
	int64_t before = 0;

	buf_clear(&p->text);
	for (size_t i = 0; i < recording_blocks(p->in); i++) {
		recording_batch(p->in, i, false, &b);
		for (size_t k = 0; k < b.n; k++) {
			assert_true(b.list[k].t_us >= before);
			before = b.list[k].t_us;
			if (b.list[k].code == code)
				buf_add(&p->text, b.list[k].data.data, b.list[k].data.len);
		}
	}
	batch_done(&b);
	return p->text.data;
}

/* Waits until a block has so much output. The writer's thread ends a block each second. */
static void until_written(struct place *p, size_t n)
{
	int64_t end = clock_mono_us() + 100000000;

	while ((look(p) < 0 || strlen(all(p, 'o')) < n) && clock_mono_us() < end)
		usleep(10000);
}

static void write_file(struct place *p, const char *s, size_t len)
{
	unlink(p->path);
	assert_int_equal(io_write_file(AT_FDCWD, p->path, 0600, s, len, false), 0);
}

static void write_text(struct place *p, const char *s)
{
	write_file(p, s, strlen(s));
}

static void slurp(struct place *p, char **ret, size_t *len)
{
	assert_int_equal(io_read_file(AT_FDCWD, p->path, 64 << 20, ret, len), 0);
}

/* ---- a line -----------------------------------------------------------------------------------
 */

TEST(a_line_survives)
{
	static const char *const texts[] = {"", "a\"b\\c\r\n\t\x1b[1m",
					    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\x7f\x01"};
	AUTO_BUF struct buf line = BUF_INIT;
	AUTO_BUF struct buf text = BUF_INIT;
	struct cast_event e;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		buf_clear(&line);
		cast_format(&line, 1234567 + (int64_t)i, 'o', texts[i], strlen(texts[i]));
		assert_int_equal(cast_parse(line.data, line.len - 1, &text, &e), 0);
		assert_int_equal(e.t_us, 1234567 + (int64_t)i);
		assert_int_equal(e.code, 'o');
		assert_string_equal(e.data.data, texts[i]);
	}
	buf_clear(&line);
	cast_format(&line, 0, 'o', "a\xff\xc3", 3);
	assert_string_equal(line.data, "[0.000000, \"o\", \"a\xef\xbf\xbd\xef\xbf\xbd\"]\n");
	buf_clear(&line);
	cast_quote(&line, "\xc2\x9b", 2);
	assert_string_equal(line.data, "\"\\u009b\"");
}

TEST(lines_of_others)
{
	static const struct {
		const char *line;
		int64_t t_us;
		const char *text;
	} good[] = {
		{"[1,\"o\",\"x\"]", 1000000, "x"},
		{" [ 0.5 , \"o\" , \"\\u00e9\\ud83d\\ude00\\/\" ] ", 500000,
		 "\xc3\xa9\xf0\x9f\x98\x80/"},
		{"[1e-05, \"o\", \"\\ud800\"]", 10, "\xef\xbf\xbd"},
		{"[12.3e1, \"o\", \"\\udcff\"]", 123000000, "\xff"},
		{"[-1, \"o\", \"\"]", 0, ""},
	};
	static const char *const bad[] = {
		"",
		"[",
		"[1]",
		"[1,\"o\"]",
		"[1,\"o\",\"x\"",
		"[1,\"o\",\"x]",
		"[1,\"o\",\"\\q\"]",
		"[1,\"o\",\"\\u12\"]",
		"[1,\"\",\"x\"]",
		"[x,\"o\",\"x\"]",
		"[1,\"o\",\"x\"]]",
		"[1e300,\"o\",\"x\"]",
		"{}",
	};
	AUTO_BUF struct buf text = BUF_INIT;
	struct cast_event e;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_int_equal(cast_parse(good[i].line, strlen(good[i].line), &text, &e), 0);
		assert_int_equal(e.t_us, good[i].t_us);
		assert_string_equal(e.data.data, good[i].text);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(cast_parse(bad[i], strlen(bad[i]), &text, &e), -EBADMSG);
}

/* ---- redaction --------------------------------------------------------------------------------
 */

TEST(secrets_are_starred)
{
	static const char *const mine[] = {"password=[^ ]+", NULL};
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"nothing here", "nothing here"},
		{"x ghp_abcdefghijklmnopqrstuvwxyz y", "x ****************************** y"},
		{"ghp_short", "ghp_short"},
		{"a password=b c\npassword=d", "a ********** c\n**********"},
		{"AKIAABCDEFGHIJKLMNOP", "********************"},
		{"ghp_abcdefghij\033[31mklmnop\033[1;38:5:2mqrstuvwxyz y",
		 "**************\033[31m******\033[1;38:5:2m********** y"},
		{"pass\033[mword=b\033[0m c", "****\033[m******\033[0m c"},
		{"\033[1mbold\033[0m \033[2K", "\033[1mbold\033[0m \033[2K"},
	};
	struct redact *r;
	struct err err = {0};

	assert_int_equal(redact_new(&r, mine, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char s[128];

		snprintf(s, sizeof(s), "%s", cases[i].text);
		redact_text(r, s, strlen(s));
		assert_string_equal(s, cases[i].want);
	}
	assert_int_equal(redact_open(r, "see ghp_ab", 10), 6);
	assert_int_equal(redact_open(r, "see gh\033[1mp_ab", 14), 10);
	assert_int_equal(redact_open(r, "see ghp_ab\033[3", 13), 9);
	redact_free(r);
	assert_int_equal(redact_new(&r, (const char *const[]){"a(", NULL}, &err), -EINVAL);
	assert_non_null(strstr(err.text, "record.redact 'a('"));
}

/* In pieces, across the end of a block, and divided by the pane's own writes. */
TEST(a_secret_in_pieces_is_never_written)
{
	static const char secret[] = "ghp_abcdefghijklmnopqrstuvwxyz";
	struct place *p = *state;

	begin(p);
	say(p, "token: ");
	for (size_t i = 0; secret[i]; i++) {
		recorder_output(p->rec, secret + i, 1);
		if (i == 9)
			usleep(1300000); /* the block ends in the middle of it */
	}
	say(p, " end\r\n");
	recorder_mark(p->rec, MARK_STEP, 3, "step 3: curl -H ghp_abcdefghijklmnopqrstuvwxyz");
	finish(p);
	assert_int_equal(look(p), 0);
	assert_string_equal(all(p, 'o'), "token: ****************************** end\r\n");
	assert_string_equal(all(p, 'm'), "step 3: curl -H ******************************");
}

/* ---- a recording -------------------------------------------------------------------------------
 */

TEST(it_is_read_as_written)
{
	struct place *p = *state;
	AUTO_BUF struct buf key = BUF_INIT;
	const struct mark *marks;
	size_t n;

	begin(p);
	say(p, "one \xe2\x82");
	say(p, "\xac two\r\n");
	recorder_resize(p->rec, 100, 30);
	recorder_resize(p->rec, 100, 30);
	recorder_mark(p->rec, MARK_STEP, 7, "step 7: make");
	assert_true(recorder_own(p->rec, "{\"t\":1,\"e\":\"row\"}", 17, true));
	say(p, "three");
	finish(p);
	assert_int_equal(look(p), 0);
	assert_null(recording_trouble(p->in));
	assert_true(recording_is_own(p->in));
	assert_int_equal(recording_header(p->in)->cols, 80);
	assert_string_equal(recording_header(p->in)->session, "s1");
	assert_string_equal(recording_header(p->in)->command, "sh");
	assert_string_equal(all(p, 'o'), "one \xe2\x82\xac two\r\nthree");
	assert_string_equal(all(p, 'r'), "100x30");
	assert_string_equal(all(p, 'c'), "{\"t\":1,\"e\":\"row\"}");
	marks = recording_marks(p->in, &n);
	assert_int_equal(n, 1);
	assert_int_equal(marks[0].id, 7);
	assert_int_equal(marks[0].kind, MARK_STEP);
	assert_string_equal(marks[0].words, "step 7: make");
	assert_false(recording_key(p->in, 0, &key));
}

/* The output of `zstd -dc` is an asciicast, line by line. */
TEST(any_zstd_makes_a_cast_of_it)
{
	struct place *p = *state;
	AUTO_FREE char *raw = NULL;
	size_t len;
	static char text[1 << 16];
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	ZSTD_inBuffer in;
	ZSTD_outBuffer out = {text, sizeof(text) - 1, 0};
	char *line;

	begin(p);
	say(p, "hello\r\n");
	recorder_own(p->rec, "{\"t\":1,\"e\":\"row\"}", 17, true);
	finish(p);
	slurp(p, &raw, &len);
	in = (ZSTD_inBuffer){raw, len, 0};
	while (in.pos < in.size)
		assert_false(ZSTD_isError(ZSTD_decompressStream(ctx, &out, &in)));
	ZSTD_freeDCtx(ctx);
	text[out.pos] = '\0'; /* the decoder may have used more as scratch space */
	line = strtok(text, "\n");
	assert_non_null(strstr(line, "{\"version\":2,\"width\":80,\"height\":24"));
	line = strtok(NULL, "\n");
	assert_non_null(strstr(line, ", \"o\", \"hello\\r\\n\"]"));
	line = strtok(NULL, "\n");
	assert_non_null(strstr(line, ", \"c\", \"{\\\"t\\\":1,\\\"e\\\":\\\"row\\\"}\"]"));
	assert_null(strtok(NULL, "\n"));
	/* It can be read like a foreign one. */
	assert_int_equal(look(p), 0);
}

TEST(keys_are_where_they_belong)
{
	struct place *p = *state;
	AUTO_BUF struct buf key = BUF_INIT;
	static char flood[300000];
	size_t with = 0, n;

	memset(flood, 'x', sizeof(flood));
	begin(p);
	assert_false(recorder_wants_key(p->rec));
	recorder_output(p->rec, flood, sizeof(flood));
	assert_true(recorder_wants_key(p->rec));
	recorder_key(p->rec, (struct span){"THE KEY", 7}, (struct span){"", 0});
	assert_false(recorder_wants_key(p->rec));
	say(p, "after");
	finish(p);
	assert_int_equal(look(p), 0);
	n = recording_blocks(p->in);
	for (size_t i = 0; i < n; i++) {
		buf_clear(&key);
		if (!recording_key(p->in, i, &key))
			continue;
		assert_string_equal(key.data, "THE KEY");
		with = i;
	}
	assert_true(with > 0 && with < n - 1);
	assert_int_equal(strlen(all(p, 'o')), sizeof(flood) + 5);
}

/* A killed process loses the last second, in which it may also have been suspended. */
TEST(a_kill_costs_the_last_second)
{
	struct place *p = *state;

	for (int tries = 0; tries < 20; tries++) {
		pid_t pid = fork();
		const char *text;

		if (pid == 0) {
			begin(p);
			say(p, "kept\r\n");
			until_written(p, 6);
			say(p, "lost");
			kill(getpid(), SIGKILL);
		}
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(look(p), 0);
		text = all(p, 'o');
		assert_null(recording_trouble(p->in));
		if (str_eq(text, "kept\r\n"))
			return;
		assert_string_equal(text, "kept\r\nlost");
	}
	fail_msg("what came last was always written");
}

/* Cut at any byte: the rest is the beginning of the recording, with nothing invented. */
TEST(a_torn_tail_is_left_out)
{
	struct place *p = *state;
	AUTO_FREE char *raw = NULL;
	char whole[256];
	size_t len;

	begin(p);
	for (int i = 0; i < 3; i++) {
		say(p, "0123456789");
		until_written(p, 10 * (size_t)(i + 1));
	}
	finish(p);
	assert_int_equal(look(p), 0);
	snprintf(whole, sizeof(whole), "%s", all(p, 'o'));
	assert_int_equal(strlen(whole), 30);
	slurp(p, &raw, &len);
	for (size_t cut = 0; cut < len; cut++) {
		write_file(p, raw, cut);
		if (look(p) < 0) {
			assert_true(cut < 300); /* not even its first line */
			continue;
		}
		all(p, 'o');
		assert_memory_equal(p->text.data, whole, p->text.len);
	}
}

TEST(damage_costs_its_block)
{
	struct place *p = *state;
	AUTO_FREE char *raw = NULL;
	size_t len, shown = 0;

	begin(p);
	for (int i = 0; i < 3; i++) {
		say(p, "0123456789");
		until_written(p, 10 * (size_t)(i + 1));
	}
	finish(p);
	slurp(p, &raw, &len);
	for (size_t at = 0; at < len; at++) {
		raw[at] ^= 0x55;
		write_file(p, raw, len);
		raw[at] ^= 0x55;
		if (look(p) < 0) /* its first bytes identify it */
			continue;
		assert_true(strlen(all(p, 'o')) >= 20 || at < 400);
		shown++;
	}
	assert_true(shown > len - 20);
}

TEST(it_ends_at_its_size_with_one_message)
{
	struct place *p = *state;
	static char noise[200001];
	AUTO_FREE char *words = NULL;
	int64_t until;
	unsigned seed = 1;

	for (size_t i = 0; i < sizeof(noise) - 1; i++)
		noise[i] = (char)(' ' + rand_r(&seed) % 90);
	begin_with(p, 100000, NULL);
	until = clock_mono_us() + 100000000;
	while (!recorder_is_thinned(p->rec) && clock_mono_us() < until) {
		recorder_output(p->rec, noise, sizeof(noise));
		usleep(20000);
	}
	assert_false(recorder_is_thinned(p->rec));
	for (int i = 0; i < 100; i++) /* of a flood output is left out, events are not */
		recorder_output(p->rec, noise, sizeof(noise));
	recorder_mark(p->rec, MARK_OTHER, 0, "the deed");
	while (!words && clock_mono_us() < until) {
		recorder_mark(p->rec, MARK_OTHER, 0, noise);
		usleep(20000);
		words = recorder_failure(p->rec);
	}
	assert_string_equal(words, "it has reached its size (record.size)");
	assert_null(recorder_failure(p->rec));
	say(p, "more");
	finish(p);
	assert_int_equal(look(p), 0);
}

/* Makes the recorder's descriptor, which is the file's, one of another file. */
static void redirect(struct place *p, const char *path)
{
	int to = open(path, O_WRONLY | O_CLOEXEC);
	struct stat a, b;

	assert_true(to >= 0);
	assert_int_equal(stat(p->path, &b), 0);
	for (int fd = 3; !p->fd && fd < to; fd++)
		if (fstat(fd, &a) == 0 && a.st_ino == b.st_ino)
			p->fd = fd;
	assert_true(p->fd && dup2(to, p->fd) == p->fd);
	close(to);
}

TEST(a_full_disk_is_waited_for)
{
	struct place *p = *state;
	static char noise[600000];
	struct redact *redact;
	int64_t until = clock_mono_us() + 100000000;
	unsigned seed = 1;

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(' ' + rand_r(&seed) % 90);
	assert_int_equal(redact_new(&redact, NULL, &p->err), 0);
	assert_int_equal(recorder_open(&p->rec,
				       &(struct recorder_spec){.fd = open("/dev/full", O_WRONLY),
							       .cols = 80,
							       .rows = 24,
							       .redact = redact},
				       &p->err),
			 -ENOSPC); /* one that cannot begin is none */
	begin(p);
	say(p, "before ");
	until_written(p, 7);
	for (int round = 0; round < 2; round++) {
		redirect(p, "/dev/full");
		say(p, "meanwhile ");
		while (!recorder_is_waiting(p->rec) && clock_mono_us() < until)
			usleep(20000);
		assert_false(recorder_is_waiting(p->rec)); /* which is said once */
		redirect(p, p->path);
		until_written(p, 7 + 10 * (size_t)(round + 1));
	}
	redirect(p, "/dev/full");
	for (size_t n = 0; n < 2 * RECORDER_QUEUE; n += sizeof(noise))
		recorder_output(p->rec, noise, sizeof(noise));
	assert_true(recorder_wants_key(p->rec)); /* the queue has an end */
	redirect(p, p->path);
	while (recorder_wants_key(p->rec) && clock_mono_us() < until) {
		recorder_key(p->rec, (struct span){"K", 1}, (struct span){"SCREEN", 6});
		usleep(10000);
	}
	say(p, " after");
	finish(p);
	assert_int_equal(look(p), 0);
	all(p, 'o');
	assert_memory_equal(p->text.data, "before meanwhile meanwhile ", 27);
	assert_string_equal(p->text.data + p->text.len - 12, "SCREEN after");
}

TEST(one_that_stays_full_ends_with_the_session)
{
	struct place *p = *state;

	begin(p);
	redirect(p, "/dev/full");
	say(p, "lost");
	while (!recorder_is_waiting(p->rec))
		usleep(20000);
	finish(p);
	assert_int_equal(look(p), 0);
	assert_string_equal(all(p, 'o'), "");
}

/* The disk stalls: the queue stays bounded, and recording continues with the screen of that
 * moment. */
TEST(a_flood_is_left_out_not_waited_for)
{
	struct place *p = *state;
	static char chunk[1 << 20];
	int64_t took = clock_mono_us();

	memset(chunk, 'y', sizeof(chunk));
	begin(p);
	for (int i = 0; i < 64; i++)
		recorder_output(p->rec, chunk, sizeof(chunk));
	took = clock_mono_us() - took;
	assert_true(took < 20000000); /* the disk never continues */
	while (recorder_wants_key(p->rec)) {
		recorder_key(p->rec, (struct span){"K", 1}, (struct span){"SCREEN", 6});
		usleep(10000);
	}
	say(p, "end");
	finish(p);
	assert_int_equal(look(p), 0);
	all(p, 'o');
	assert_string_equal(p->text.data + p->text.len - 3, "end");
}

/* ---- casts of others ---------------------------------------------------------------------------
 */

static const char v2[] = "{\"version\": 2, \"width\": 100, \"height\": 50}\n"
			 "[0.5, \"o\", \"a\"]\n[1.0, \"z\", \"?\"]\n[1.5, \"m\", \"here\"]\n"
			 "[2.0, \"r\", \"70x20\"]\n[2.5, \"o\", \"b\"]\n";

TEST(foreign_casts_are_read)
{
	struct place *p = *state;
	const struct mark *marks;
	size_t n;

	write_text(p, v2);
	assert_int_equal(look(p), 0);
	assert_false(recording_is_own(p->in));
	assert_int_equal(recording_header(p->in)->cols, 100);
	assert_int_equal(recording_duration(p->in), 2500000);
	assert_string_equal(all(p, 'o'), "ab");
	assert_string_equal(all(p, 'r'), "70x20");
	marks = recording_marks(p->in, &n);
	assert_int_equal(n, 1);
	assert_int_equal(marks[0].t_us, 1500000);
	assert_string_equal(marks[0].words, "here");

	write_text(
		p,
		"{\"version\":3,\"term\":{\"cols\":90,\"rows\":40}}\n# words\n"
		"[0.5,\"o\",\"a\"]\n\n[1.0,\"m\",\"x\"]\n[1.0,\"o\",\"b\"]\n[0.1,\"x\",\"0\"]\n");
	assert_int_equal(look(p), 0);
	assert_int_equal(recording_header(p->in)->rows, 40);
	assert_int_equal(recording_duration(p->in), 2600000);
	assert_string_equal(all(p, 'o'), "ab");

	write_text(p, "{\"version\":1,\n\"width\":77,\"height\":11,\"duration\":3,\n"
		      "\"stdout\":[[0.5,\"a\\u001b[1m\"],[1.25,\"b\"]]}\n");
	assert_int_equal(look(p), 0);
	assert_int_equal(recording_header(p->in)->cols, 77);
	assert_int_equal(recording_duration(p->in), 1750000);
	assert_string_equal(all(p, 'o'), "a\x1b[1mb");
}

TEST(packed_casts_are_read)
{
	struct place *p = *state;
	char command[512], packed[256];
	AUTO_FREE char *raw = NULL;
	size_t len, n;

	write_text(p, v2);
	snprintf(command, sizeof(command), "gzip -c %s >%s/g && mv %s/g %s", p->path, p->dir,
		 p->dir, p->path);
	assert_int_equal(system(command), 0);
	assert_int_equal(look(p), 0);
	assert_string_equal(all(p, 'o'), "ab");
	assert_null(recording_trouble(p->in));
	slurp(p, &raw, &len);
	write_file(p, raw, len - 20);
	if (look(p) == 0)
		assert_non_null(recording_trouble(p->in));

	n = ZSTD_compress(packed, sizeof(packed), v2, sizeof(v2) - 1, 3);
	write_file(p, packed, n);
	assert_int_equal(look(p), 0);
	assert_string_equal(all(p, 'o'), "ab");
}

TEST(broken_casts_show_what_they_can)
{
	struct place *p = *state;

	write_text(p, "{\"version\": 2, \"width\": 0}\n[0.5, \"o\", \"a\"]\nrubbish\n[0.7, \"o\", "
		      "\"b\"]\n"
		      "[0.8, \"o\", \"c");
	assert_int_equal(look(p), 0);
	assert_string_equal(all(p, 'o'), "ab");
	assert_string_equal(recording_trouble(p->in), "2 lines of the recording could not be read");
	assert_int_equal(recording_header(p->in)->cols, 80);

	write_text(p, "");
	assert_int_equal(look(p), -EBADMSG);
	write_text(p, "hello\n");
	assert_int_equal(look(p), -EBADMSG);
	write_text(p, "{\"version\":9}\n");
	assert_int_equal(look(p), -ENOTSUP);
	assert_string_equal(p->err.text, "asciicast of version 9: 1, 2 and 3 can be shown");
	write_text(p, "{\"version\":1}\n");
	assert_int_equal(look(p), -EBADMSG);
}

/* ---- the ring ----------------------------------------------------------------------------------
 */

static int add(struct place *p, const char *session, int64_t keep, int64_t size, size_t bytes)
{
	struct ring_spec spec = {
		.state_dir = p->dir, .session = session, .keep = keep, .size = size};
	int fd, r = ring_open(&spec, &fd, &p->err);

	if (r == 0 && bytes)
		assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	return r == 0 ? fd : r;
}

static bool there(struct place *p, const char *session)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/recordings/%s.cast.zst", p->dir, session);
	return access(path, F_OK) == 0;
}

TEST(the_oldest_make_room)
{
	struct place *p = *state;
	struct stat st;
	char dir[96];
	int held, fd;

	held = add(p, "20260101-000000-0001", 3, 0, 0);
	for (int i = 2; i < 6; i++) {
		char name[32];

		snprintf(name, sizeof(name), "20260101-00000%d-000%d", i, i);
		close(add(p, name, 3, 0, 0));
	}
	assert_true(there(p, "20260101-000000-0001")); /* it is in use */
	assert_false(there(p, "20260101-000002-0002"));
	assert_false(there(p, "20260101-000003-0003"));
	assert_true(there(p, "20260101-000004-0004"));
	assert_true(there(p, "20260101-000005-0005"));
	close(held);
	close(add(p, "20260101-000006-0006", 3, 0, 1000));
	assert_false(there(p, "20260101-000000-0001"));
	close(add(p, "20260101-000007-0007", 9, 1000, 0));
	assert_true(there(p, "20260101-000006-0006")); /* the newest three stay */
	assert_int_equal(add(p, "20260101-000007-0007", 9, 0, 0), -EEXIST);
	snprintf(dir, sizeof(dir), "%s/recordings", p->dir);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);

	assert_int_equal(ring_newest(p->dir, 0, &fd, &p->err), 0);
	close(fd);
	assert_int_equal(ring_find(p->dir, "0007", &fd, &p->err), 0);
	close(fd);
	assert_int_equal(ring_find(p->dir, "007", &fd, &p->err), -ENOENT);
	assert_int_equal(ring_find(p->dir, "../x", &fd, &p->err), -ENOENT);
}

/* Their names do not tell their order. */
TEST(of_one_second_the_last_written_is_the_newest)
{
	static const char *const names[] = {"20260101-000001-9999", "20260101-000001-0001",
					    "20260101-000001-5555"};
	struct place *p = *state;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_CLOSE int fd = add(p, names[i], 9, 0, 1 + i);
		const struct timespec written[2] = {{1767225601, (long)i}, {1767225601, (long)i}};

		assert_int_equal(futimens(fd, written), 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_CLOSE int fd = -1;
		struct stat st;

		assert_int_equal(ring_newest(p->dir, i, &fd, &p->err), 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_size, ARRAY_LEN(names) - i);
	}
}

TESTS(setup, teardown)
