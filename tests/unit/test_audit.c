/* test_audit - the chain is valid, and every damage to it is detected. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/audit/audit.h"
#include "core/audit/reader.h"
#include "core/base/io.h"
#include "core/base/json.h"
#include "tests/support/check.h"

struct place {
	char dir[64], path[96], head[104];
	struct err err;
	uint64_t lines;
};

static int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));

	snprintf(p->dir, sizeof(p->dir), "/tmp/cordon-audit-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/audit.ndjson", p->dir);
	snprintf(p->head, sizeof(p->head), "%s.head", p->path);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	assert_int_equal(io_remove_tree(AT_FDCWD, p->dir), 0);
	free(p);
	return 0;
}

static void append(struct place *p, int n)
{
	struct audit *a = NULL;
	struct audit_entry e = {.event = AUDIT_TOUCH,
				.step = 3,
				.pid = 42,
				.latency_us = -1,
				.op = "unlink",
				.path = "/w/a\"b\\c\xff\x1b[2J",
				.path2 = "/w/d"};

	assert_int_equal(audit_open(&a, p->path, "s1", &p->err), 0);
	for (int i = 0; i < n; i++)
		assert_int_equal(audit_append(a, &e), 0);
	audit_close(a);
}

static int verify(struct place *p)
{
	return audit_verify(p->path, &p->lines, &p->err);
}

static void slurp(struct place *p, char **ret, size_t *len)
{
	assert_int_equal(io_read_file(AT_FDCWD, p->path, 64 << 20, ret, len), 0);
}

static void spit(struct place *p, const char *s, size_t len)
{
	assert_int_equal(io_write_file(AT_FDCWD, p->path, 0600, s, len, false), 0);
}

TEST(chains)
{
	struct place *p = *state;
	AUTO_FREE char *text = NULL;
	struct stat st;
	cJSON *json;
	size_t len;

	append(p, 3);
	append(p, 2);
	assert_int_equal(verify(p), 0);
	assert_int_equal(p->lines, 5);
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	slurp(p, &text, &len);
	assert_non_null(strstr(text, "\"/w/a\\\"b\\\\c\\udcff\\u001b[2J\""));
	memcpy(strstr(text, "\\udcff"), "\\u00ff", 6); /* cJSON refuses half a surrogate pair */
	json = cJSON_Parse(text);
	assert_non_null(json);
	assert_int_equal(cJSON_GetObjectItem(json, "seq")->valueint, 1);
	assert_string_equal(cJSON_GetObjectItem(json, "event")->valuestring, "touch");
	assert_string_equal(cJSON_GetObjectItem(json, "session")->valuestring, "s1");
	assert_null(cJSON_GetObjectItem(json, "command"));
	cJSON_Delete(json);
	assert_null(strchr(text, 0x1b));
}

/* "audit --json" and "log --json" go to terminals too. */
TEST_WITH(nothing_is_hidden_in_json, NULL, NULL)
{
	static const struct {
		const char *raw, *json;
	} cases[] = {
		{"\x1b[2J", "\"\\u001b[2J\""},
		{"\xc2\x9b"
		 "2J",
		 "\"\\u009b2J\""}, /* CSI as one character */
		{"\xe2\x80\xae"
		 "x",
		 "\"\\u202ex\""},		 /* right-to-left text begins here */
		{"\xe2\x80\x8b", "\"\\u200b\""}, /* no width */
		{"\x9b", "\"\\udc9b\""},
		{"\xc3\xa9\xe2\x82\xac", "\"\xc3\xa9\xe2\x82\xac\""},
		{"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF struct buf out = BUF_INIT;

		json_quote(&out, cases[i].raw, strlen(cases[i].raw));
		assert_string_equal(out.data, cases[i].json);
	}
}

TEST(reads_back)
{
	static const char *const broken[] = {
		"",
		"{}x",
		"{\"a\":1",
		"{\"a\":}",
		"{\"a\" 1}",
		"{\"a\"",
		"{\"a\":\"\\u12\"}",
		"{\"a\":1,}",
		"{\"a\":\"\\ud800\"}",
		"[1]",
	};
	struct place *p = *state;
	AUTO_FREE char *text = NULL;
	struct audit_record r;
	size_t len, n;

	append(p, 1);
	slurp(p, &text, &len);
	audit_record_init(&r);
	assert_int_equal(audit_record_parse(&r, text, len - 1), 0);
	assert_string_equal(audit_record_get(&r, "path", &n), "/w/a\"b\\c\xff\x1b[2J");
	assert_int_equal(n, 13);
	assert_string_equal(audit_record_get(&r, "step", NULL), "3");
	assert_null(audit_record_get(&r, "detail", NULL));
	for (size_t i = 0; i < ARRAY_LEN(broken); i++)
		assert_int_equal(audit_record_parse(&r, broken[i], strlen(broken[i])), -EBADMSG);
	audit_record_done(&r);
}

TEST(sees_edits)
{
	struct place *p = *state;
	AUTO_FREE char *text = NULL;
	char *second;
	size_t len;

	append(p, 4);
	slurp(p, &text, &len);
	second = strchr(text, '\n') + 1;
	strstr(second, "unlink")[0] = 'U';
	spit(p, text, len);
	assert_int_equal(verify(p), -EBADMSG);
	assert_non_null(strstr(p->err.text, ":2: the line was changed"));
	assert_int_equal(p->lines, 1);
}

TEST(sees_missing_and_swapped_lines)
{
	struct place *p = *state;
	AUTO_FREE char *text = NULL;
	AUTO_BUF struct buf b = BUF_INIT;
	char *second, *third;
	size_t len;

	append(p, 3);
	slurp(p, &text, &len);
	second = strchr(text, '\n') + 1;
	third = strchr(second, '\n') + 1;

	spit(p, second, len - (size_t)(second - text));
	assert_int_equal(verify(p), -EBADMSG);

	buf_add(&b, text, (size_t)(second - text));
	buf_str(&b, third);
	buf_add(&b, second, (size_t)(third - second));
	spit(p, b.data, b.len);
	assert_int_equal(verify(p), -EBADMSG);
	assert_non_null(strstr(p->err.text, ":2: lines before it"));

	spit(p, text, (size_t)(third - text)); /* the tail is cut */
	assert_int_equal(verify(p), -EBADMSG);
	assert_non_null(strstr(p->err.text, "newest lines are missing"));

	append(p, 2); /* appending does not repair it */
	assert_int_equal(verify(p), -EBADMSG);

	spit(p, "", 0);
	assert_int_equal(verify(p), -EBADMSG);

	spit(p, text, len);
	assert_int_equal(unlink(p->head), 0);
	assert_int_equal(verify(p), -EBADMSG);
}

TEST(survives_a_crash)
{
	struct place *p = *state;
	AUTO_FREE char *text = NULL, *head = NULL;
	size_t len, head_len;
	AUTO_CLOSE int fd = -1;

	append(p, 2);
	assert_int_equal(io_read_file(AT_FDCWD, p->head, 4096, &head, &head_len), 0);
	append(p, 2);
	/* Killed between writing the log and the head. */
	assert_int_equal(io_write_file(AT_FDCWD, p->head, 0600, head, head_len, false), 0);
	assert_int_equal(verify(p), 0);
	/* Killed in the middle of a line. */
	slurp(p, &text, &len);
	fd = open(p->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(io_write_all(fd, "{\"seq\":5,\"ti", 12), 0);
	assert_int_equal(verify(p), 0);
	append(p, 1);
	assert_int_equal(verify(p), 0);
	assert_int_equal(p->lines, 5);
}

/* Fills the log beyond the limit with one huge, well-formed run of lines. */
TEST(rotates)
{
	struct place *p = *state;
	AUTO_FREE char *huge = xmalloc(9000);
	AUTO_FREE char *aside = xasprintf("%s.1", p->path);
	AUTO_FREE char *old = NULL;
	struct audit_entry e = {.event = AUDIT_EXEC, .latency_us = -1};
	struct stat st;
	size_t len;
	uint64_t first;

	memset(huge, 0xff, 9000);
	huge[8999] = '\0';
	e.op = e.path = e.path2 = e.program = e.command = e.detail = huge;
	for (int round = 0; round < 3; round++) {
		struct audit *a = NULL;

		assert_int_equal(audit_open(&a, p->path, "s", &p->err), 0);
		for (int i = 0; i < 1440; i++)
			assert_int_equal(audit_append(a, &e), 0);
		audit_close(a);
		assert_int_equal(verify(p), 0);
	}
	assert_int_equal(p->lines, 2880);
	assert_int_equal(stat(aside, &st), 0);
	append(p, 1);
	assert_int_equal(verify(p), 0);
	assert_int_equal(p->lines, 1441);
	assert_int_equal(audit_dropped(p->path), 2880);

	/* The beginning of the kept part must not be missing either. */
	assert_int_equal(io_read_file(AT_FDCWD, aside, 128 << 20, &old, &len), 0);
	first = (uint64_t)(strchr(old, '\n') + 1 - old);
	assert_int_equal(io_write_file(AT_FDCWD, aside, 0600, old + first, len - first, false), 0);
	assert_int_equal(verify(p), -EBADMSG);
	assert_int_equal(unlink(aside), 0);
	assert_int_equal(verify(p), -EBADMSG);
}

TEST(one_writer)
{
	struct place *p = *state;
	struct audit *a = NULL, *b = NULL;

	assert_int_equal(audit_open(&a, p->path, "s1", &p->err), 0);
	assert_int_equal(audit_open(&b, p->path, "s2", &p->err), -EBUSY);
	audit_close(a);
}

static bool has_open(pid_t pid, const char *path)
{
	for (int fd = 3; fd < 64; fd++) {
		char link[64], target[128] = "";

		snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
		if (readlink(link, target, sizeof(target) - 1) > 0 && str_eq(target, path))
			return true;
	}
	return false;
}

/* Plays another writer: rotates the log once `waiting` waits for it, then releases it. */
static void NORETURN rotate_for(pid_t waiting, const struct place *p, int ready)
{
	AUTO_FREE char *aside = xasprintf("%s.1", p->path);
	int fd = open(p->path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || io_lock(fd) < 0 || write(ready, "", 1) != 1)
		_exit(1);
	while (!has_open(waiting, p->path))
		usleep(1000);
	_exit(rename(p->path, aside) < 0);
}

TEST(waits_for_a_log_that_is_set_aside)
{
	struct place *p = *state;
	AUTO_FREE char *aside = xasprintf("%s.1", p->path);
	struct stat before, after;
	int ready[2], status;
	pid_t pid, self = getpid();
	char c;

	append(p, 3);
	assert_int_equal(stat(p->path, &before), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0)
		rotate_for(self, p, ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	append(p, 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(stat(aside, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	assert_int_equal(stat(p->path, &after), 0);
	assert_true(after.st_size > 0);
	assert_int_equal(verify(p), 0);
}

TEST(full_disk)
{
	struct place *p = *state;
	struct audit *a = NULL;
	struct audit_entry e = {.event = AUDIT_EXEC, .latency_us = -1};
	int r = 0;

	assert_int_equal(symlink("/dev/full", p->path), 0);
	assert_int_equal(audit_open(&a, p->path, "s", &p->err), -ELOOP);
	assert_int_equal(unlink(p->path), 0);
	assert_int_equal(audit_open(&a, p->path, "s", &p->err), 0);
	/* A closed head fails like a full disk, and the failure is permanent. */
	assert_int_equal(audit_append(a, &e), 0);
	for (int fd = 3; fd < 64; fd++) {
		char link[64], target[128];
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, target, sizeof(target) - 1);
		if (n > 0 && (size_t)n == strlen(p->head) &&
		    memcmp(target, p->head, (size_t)n) == 0) {
			int full = open("/dev/full", O_RDWR | O_CLOEXEC);

			assert_int_equal(dup2(full, fd), fd);
			close(full);
		}
	}
	r = audit_flush(a);
	assert_true(r < 0);
	assert_int_equal(audit_append(a, &e), r);
	audit_close(a);
}

TEST(long_fields)
{
	struct place *p = *state;
	AUTO_FREE char *huge = xmalloc(1 << 20);
	struct audit *a = NULL;
	struct audit_entry e = {.event = AUDIT_EXEC, .latency_us = -1};

	memset(huge, 0xff, 1 << 20);
	huge[(1 << 20) - 1] = '\0';
	e.op = e.path = e.path2 = e.program = e.command = e.detail = huge;
	assert_int_equal(audit_open(&a, p->path, "s", &p->err), 0);
	assert_int_equal(audit_append(a, &e), 0);
	audit_close(a);
	append(p, 1);
	assert_int_equal(verify(p), 0);
	assert_int_equal(p->lines, 2);
}

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

TEST(speed)
{
	struct place *p = *state;
	int64_t t = cpu_us();

	append(p, 20000);
	t = cpu_us() - t;
	print_message("# %.0f appends a second\n", 20000 * 1e6 / (double)t);
	assert_true(t < 1000000);
}

/* A path or command that is cut must not look complete. */
TEST(what_is_cut_is_marked)
{
	struct place *p = *state;
	struct audit *a = NULL;
	AUTO_FREE char *text = NULL, *path = xcalloc(1, 9001), *path2 = xcalloc(1, 4096);
	struct audit_record r;
	size_t len, n;

	memset(path, 'x', 9000);
	memset(path2, 0x80, 4095); /* six characters each */
	assert_int_equal(audit_open(&a, p->path, "s1", &p->err), 0);
	assert_int_equal(
		audit_append(
			a, &(struct audit_entry){.path = path, .path2 = path2, .command = "whole"}),
		0);
	audit_close(a);
	assert_int_equal(verify(p), 0);
	slurp(p, &text, &len);
	audit_record_init(&r);
	assert_int_equal(audit_record_parse(&r, text, len - 1), 0);
	assert_non_null(audit_record_get(&r, "path", &n));
	assert_int_equal(n, 8192);
	assert_string_equal(audit_record_get(&r, "path" AUDIT_CUT, NULL), "true");
	assert_string_equal(audit_record_get(&r, "path2" AUDIT_CUT, NULL), "true");
	assert_string_equal(audit_record_get(&r, "command", NULL), "whole");
	assert_null(audit_record_get(&r, "command" AUDIT_CUT, NULL));
	audit_record_done(&r);
}

/* The agent can call `cordon step abort` without limit, but must not hide the user's undo. */
TEST(what_those_inside_undo_is_counted)
{
	struct place *p = *state;
	struct audit *a = NULL;
	const struct audit_entry by_agent = {.event = AUDIT_UNDO, .inside = true, .step = 1},
				 by_human = {.event = AUDIT_UNDO, .step = 2};
	AUTO_FREE char *text = NULL;
	size_t len;

	assert_int_equal(audit_open(&a, p->path, "s1", &p->err), 0);
	audit_set_session_max(a, 10000);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(audit_append(a, &by_agent), 0);
	assert_int_equal(audit_append(a, &by_human), 0);
	audit_close(a);
	slurp(p, &text, &len);
	assert_true(len < 30000);
	assert_non_null(strstr(text, "\"step\":2"));
	assert_int_equal(verify(p), 0);
}

/* Events that processes inside can cause without limit are counted; the user's actions are always
 * written. */
TEST(what_has_no_end_is_counted)
{
	struct place *p = *state;
	struct audit *a = NULL;
	struct audit_entry e = {.event = AUDIT_EXEC, .latency_us = -1, .path = "/none"};
	const struct audit_entry decision = {.event = AUDIT_DECISION, .path = "/yes"};
	AUTO_FREE char *text = NULL;
	size_t len;

	assert_int_equal(audit_open(&a, p->path, "s1", &p->err), 0);
	audit_set_session_max(a, 10000);
	for (int i = 0; i < 100000; i++) {
		e.event = i % 4 ? AUDIT_EXEC : AUDIT_DENY;
		assert_int_equal(audit_append(a, &e), 0);
	}
	assert_true(audit_is_counting(a));
	assert_int_equal(audit_append(a, &decision), 0);
	audit_close(a);
	slurp(p, &text, &len);
	assert_true(len < 30000);
	assert_non_null(strstr(text, "\"path\":\"/yes\""));
	assert_non_null(strstr(text, "only counted: 7"));
	assert_int_equal(verify(p), 0);
	assert_int_equal(audit_open(&a, p->path, "s2", &p->err), 0);
	assert_false(audit_is_counting(a)); /* each session has its own limit */
	audit_close(a);
}

/* Escaping can make a text six times as long: the limit applies to the written text. */
TEST(a_field_is_bounded_as_written)
{
	struct place *p = *state;
	char command[8193];
	struct audit_entry e = {.event = AUDIT_EXEC, .latency_us = -1, .command = command};
	struct audit *a = NULL;
	AUTO_FREE char *text = NULL;
	size_t len;

	memset(command, '\x01', sizeof(command) - 1);
	command[sizeof(command) - 1] = '\0';
	assert_int_equal(audit_open(&a, p->path, "s1", &p->err), 0);
	assert_int_equal(audit_append(a, &e), 0);
	audit_close(a);
	slurp(p, &text, &len);
	assert_in_range(len, 8000, 9000);
	assert_int_equal(verify(p), 0);
}

TESTS(setup, teardown)
