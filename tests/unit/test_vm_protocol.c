/* test_vm_protocol - lines between host and guest, QEMU's messages, its arguments, last words. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "backends/vm/monitor/guest_word.h"
#include "backends/vm/monitor/last_words.h"
#include "backends/vm/monitor/shim_protocol.h"
#include "backends/vm/qemu/qemu.h"
#include "backends/vm/qemu/qmp.h"
#include "tests/support/check.h"
/* The other end of the protocol, as in the guest. */
#include "backends/vm/shim/wire.c"
#include "core/session/backend.h"

static void parsed_is(const char *line, enum shim_kind kind, int64_t id, int status, int64_t n)
{
	struct shim_event e;

	assert_int_equal(shim_parse(&e, line, strlen(line)), 0);
	assert_int_equal(e.kind, kind);
	assert_int_equal(e.id, id);
	assert_int_equal(e.status, status);
	assert_int_equal(e.n, n);
	shim_event_done(&e);
}

TEST(the_guests_lines_are_read)
{
	parsed_is("{\"type\":\"ready\"}", SHIM_READY, 0, 0, 0);
	parsed_is("{\"type\":\"step_started\",\"id\":7}", SHIM_STARTED, 7, 0, 0);
	parsed_is("{\"type\":\"exec_failed\",\"id\":1,\"status\":127,\"code\":2}", SHIM_FAILED, 1,
		  127, 0);
	parsed_is("{\"type\":\"taken\",\"id\":1,\"n\":65536}", SHIM_TAKEN, 1, 0, 65536);
	parsed_is("{\"type\":\"step_completed\",\"id\":1,\"exit_code\":143,\"signal\":15,"
		  "\"tty_bytes\":12}",
		  SHIM_COMPLETED, 1, 143, 12);
	parsed_is("{\"type\":\"left\",\"id\":12,\"exit_code\":137}", SHIM_LEFT, 12, 137, 0);
	parsed_is("{\"type\":\"is\",\"id\":13,\"pid\":12}", SHIM_IS, 13, 0, 0);
	parsed_is("{\"type\":\"of_a_later_version\"}", SHIM_OTHER, 0, 0, 0);
}

TEST(what_is_no_message_is_refused)
{
	static const char *const lines[] = {
		"",
		"[]",
		"7",
		"{",
		"{}",
		"{\"type\":7}",
		"{\"type\":\"step_started\",\"id\":-1}",
		"{\"type\":\"step_started\",\"id\":1e300}",
		"{\"type\":\"step_started\",\"id\":\"1\"}",
		"{\"type\":\"exec_failed\",\"id\":1,\"status\":256}",
		"{\"type\":\"step_completed\",\"id\":1,\"exit_code\":0,\"signal\":65}",
		"{\"type\":\"is\",\"id\":4194305,\"pid\":12}",
		"{\"type\":\"is\",\"id\":12,\"pid\":-1}",
		"{\"type\":\"left\",\"id\":12,\"exit_code\":256}",
		"{\"type\":\"process\",\"id\":12,\"exe\":\"/bin/sh\"}",
		"{\"type\":\"process\",\"id\":12,\"data\":\"sh\"}",
		"{\"type\":\"process\",\"id\":12,\"parent\":4194305,\"exe\":\"\",\"data\":\"\"}",
		"{\"type\":\"exec\",\"id\":12,\"age\":-1,\"exe\":\"\",\"data\":\"\"}",
		"{\"type\":\"step\",\"id\":1,\"pid\":12}",
		"{\"type\":\"step\",\"id\":1,\"pid\":4194305,\"data\":\"end\"}",
		"{\"type\":\"output\",\"id\":1,\"stream\":\"stdout\"}",
		"{\"type\":\"output\",\"id\":1,\"stream\":\"x\",\"data\":\"y\"}",
		"{\"type\":\"output\",\"id\":1,\"stream\":\"stdout\",\"data64\":\"!\"}",
	};
	AUTO_BUF struct buf deep = BUF_INIT;
	struct shim_event e;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		assert_int_equal(shim_parse(&e, lines[i], strlen(lines[i])), -EBADMSG);
	for (int i = 0; i < 100000; i++)
		buf_ch(&deep, '[');
	assert_int_equal(shim_parse(&e, deep.data, deep.len), -EBADMSG);
}

/* A process with any bytes in its arguments, separated by NUL; and one with unreadable
 * arguments. */
TEST(a_process_comes_through_whole)
{
	static const char some[] = "sh\0-c\0echo \"\xff\n";
	static struct told t = {
		.pid = 4194304, .parent = 1, .group = 7, .age_us = 1234567, .execed = true};
	char out[PROCESS_ROOM];
	struct shim_event e;
	size_t len;

	memcpy(t.exe, "/usr/bin/\"dash", t.exe_len = 14);
	memcpy(t.argv, some, t.argv_len = sizeof(some));
	len = wire_process(out, "process", &t);
	assert_int_equal(out[len - 1], '\n');
	assert_int_equal(shim_parse(&e, out, len - 1), 0);
	assert_int_equal(e.kind, SHIM_PROCESS);
	assert_int_equal(e.id, 4194304);
	assert_int_equal(e.parent, 1);
	assert_int_equal(e.group, 7);
	assert_int_equal(e.n, 1234567);
	assert_true(e.execed);
	assert_string_equal(e.exe, "/usr/bin/\"dash");
	assert_int_equal(e.len, sizeof(some));
	assert_memory_equal(e.data, some, sizeof(some));
	shim_event_done(&e);
	memset(t.exe, 0xff, t.exe_len = PROCESS_EXE);
	memset(t.argv, 1, t.argv_len = PROCESS_ARGV);
	len = wire_process(out, "exec", &t);
	assert_true(len <= sizeof(out));
	assert_int_equal(shim_parse(&e, out, len - 1), 0);
	assert_int_equal(e.kind, SHIM_EXECS);
	assert_string_equal(e.exe, "");
	assert_int_equal(e.len, PROCESS_ARGV);
	shim_event_done(&e);
}

/* A request about a step and its answer: any bytes, in both directions. */
TEST(a_request_about_a_step_comes_through_whole)
{
	static const unsigned char some[] = "begin/\"a\xff\n\0b";
	char out[OUTPUT_ROOM(sizeof(some))];
	AUTO_BUF struct buf line = BUF_INIT;
	struct shim_event e;
	struct message m;
	size_t len = wire_step(out, 7, 4194304, some, sizeof(some));

	assert_true(len <= sizeof(out));
	assert_int_equal(shim_parse(&e, out, len - 1), 0);
	assert_true(e.kind == SHIM_STEP && e.id == 7 && e.pid == 4194304);
	assert_int_equal(e.len, sizeof(some));
	assert_memory_equal(e.data, some, sizeof(some));
	shim_event_done(&e);
	shim_answer(&line, 7, (const char *)some, sizeof(some));
	assert_true(wire_parse(&m, line.data, line.len - 1));
	assert_string_equal(m.type, "answer");
	assert_int_equal(m.id, 7);
	assert_int_equal(m.data_len, sizeof(some));
	assert_memory_equal(m.data, some, sizeof(some));
}

/* The keeper trusts no length. */
TEST(words_about_processes_are_checked)
{
	static struct guest_word w;
	char argv[8192];
	size_t len;

	memset(argv, 'x', sizeof(argv));
	len = guest_word_pack(&w, "/bin/sh", 7, argv, sizeof(argv));
	assert_int_equal(len, sizeof(w));
	assert_true(guest_word_fits(&w, len));
	assert_false(guest_word_fits(&w, len - 1));
	assert_false(guest_word_fits(&w, 4));
	w.argv_len++;
	assert_false(guest_word_fits(&w, len + 1));
	w.exe_len = UINT32_MAX;
	assert_false(guest_word_fits(&w, len));
}

/* Any bytes that the guest writes are read by the host. */
TEST(output_comes_through_whole)
{
	static const char *const texts[] = {
		"plain\n",	     "\"\\\x01\x1b[31m", "\xc3\xa4\xf0\x9f\x98\x80",
		"\xff\xfe cut \xc3", "\xed\xa0\x80",	 "\xc0\x80"};
	unsigned char every[512];
	char out[OUTPUT_ROOM(sizeof(every))];
	struct shim_event e;
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		n = wire_output(out, 3, "stderr", (const unsigned char *)texts[i],
				strlen(texts[i]));
		assert_true(n <= OUTPUT_ROOM(strlen(texts[i])));
		assert_int_equal(out[n - 1], '\n');
		assert_int_equal(shim_parse(&e, out, n - 1), 0);
		assert_true(e.kind == SHIM_OUTPUT && e.to_stderr && e.id == 3);
		assert_int_equal(e.len, strlen(texts[i]));
		assert_memory_equal(e.data, texts[i], e.len);
		shim_event_done(&e);
	}
	for (size_t i = 0; i < sizeof(every); i++)
		every[i] = (unsigned char)(i * 7);
	for (size_t len = 0; len <= sizeof(every); len++) {
		n = wire_output(out, 1, "stdout", every, len);
		assert_int_equal(shim_parse(&e, out, n - 1), 0);
		assert_int_equal(e.len, len);
		assert_memory_equal(e.data, every, len);
		shim_event_done(&e);
	}
}

/* Any bytes in words and paths that the host writes are read by the guest. */
TEST(commands_come_through_whole)
{
	const char *const argv[] = {"sh", "-c", "echo \"\\\n\x7f \xc3\xa4 \xff\xe2\x80\xae", "",
				    NULL};
	const char *const env[] = {"A=b", "B=\xf0\x9f\x98\x80", NULL};
	const struct spawn_limits limits = {
		.processes = 7, .memory = INT64_C(5) << 32, .open_files = 8, .cpu_seconds = 9};
	const struct shim_exec e = {.id = 5,
				    .argv = argv,
				    .env = env,
				    .cwd = "/w \xfe",
				    .uid = 1000,
				    .gid = 100,
				    .tty = true,
				    .rows = 33,
				    .cols = 99,
				    .limits = &limits};
	AUTO_BUF struct buf b = BUF_INIT;
	struct message m;

	assert_int_equal(shim_exec(&b, &e), 0);
	assert_true(wire_parse(&m, b.data, b.len - 1));
	assert_string_equal(m.type, "exec");
	for (size_t i = 0; argv[i]; i++)
		assert_string_equal(m.argv[i], argv[i]);
	assert_null(m.argv[4]);
	assert_string_equal(m.env[1], env[1]);
	assert_null(m.env[2]);
	assert_string_equal(m.cwd, e.cwd);
	assert_true(m.id == 5 && m.uid == 1000 && m.gid == 100 && m.rows == 33 && m.cols == 99);
	assert_true(m.tty);
	assert_true(m.processes == 7 && m.memory == 5L << 32 && m.files == 8 && m.seconds == 9);
	buf_clear(&b);
	shim_input(&b, 1, "a\0b\n\xff", 5, true);
	assert_true(wire_parse(&m, b.data, b.len - 1));
	assert_int_equal(m.data_len, 5);
	assert_memory_equal(m.data, "a\0b\n\xff", 5);
	assert_true(m.end);
	buf_clear(&b);
	shim_signal(&b, 1, 15);
	assert_true(wire_parse(&m, b.data, b.len - 1) && m.sig == 15);
}

TEST(a_command_that_is_too_long_is_refused)
{
	AUTO_FREE char *word = xcalloc(1, SHIM_EXEC);
	const char *const argv[] = {word, NULL}, *const env[] = {NULL};
	AUTO_BUF struct buf b = BUF_INIT;

	memset(word, 'x', SHIM_EXEC - 1);
	buf_str(&b, "before");
	assert_int_equal(shim_exec(&b, &(struct shim_exec){.argv = argv, .env = env, .cwd = "/"}),
			 -E2BIG);
	assert_string_equal(b.data, "before");
}

TEST(qemu_is_understood)
{
	static const struct {
		const char *line, *name, *text;
		enum qmp_kind kind;
	} known[] = {
		{"{\"QMP\": {\"version\": {}, \"capabilities\": [\"oob\"]}}\r", "", "",
		 QMP_GREETING},
		{"{\"return\": {}}\r", "", "", QMP_RETURN},
		{"{\"return\": {\"status\": \"paused\", \"running\": false}}", "", "paused",
		 QMP_RETURN},
		{"{\"error\": {\"class\": \"CommandNotFound\", \"desc\": \"no\"}}",
		 "CommandNotFound", "no", QMP_ERROR},
		{"{\"timestamp\": {\"seconds\": 1}, \"event\": \"SHUTDOWN\", \"data\": {}}",
		 "SHUTDOWN", "", QMP_EVENT},
		{"{\"x\": 1}", "", "", QMP_OTHER},
	};
	struct qmp_message q;

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		assert_int_equal(qmp_parse(&q, known[i].line, strlen(known[i].line)), 0);
		assert_int_equal(q.kind, known[i].kind);
		assert_string_equal(q.name, known[i].name);
		assert_string_equal(q.text, known[i].text);
	}
	assert_int_equal(qmp_parse(&q, "no", 2), -EBADMSG);
	assert_int_equal(qmp_parse(&q, "[1]", 3), -EBADMSG);
}

/* The only devices are the ports, the shares and, if the guest has a network, a device whose other
 * end is in our own process. */
static void qemu_gets_these_devices(int net, const char *want)
{
	const char *const tags[] = {"root", "cordon0"};
	const int shares[] = {20, 21};
	const struct qemu_spec spec = {.program = "/usr/bin/qemu",
				       .memory = (int64_t)512 << 20,
				       .cpus = 1,
				       .kernel = "/k",
				       .initrd = 10,
				       .control = 11,
				       .tty = 12,
				       .qmp = 13,
				       .console = 14,
				       .disk = -1,
				       .net = net,
				       .tags = tags,
				       .shares = shares,
				       .n = 2};
	AUTO_BUF struct buf devices = BUF_INIT;
	AUTO_BUF struct buf all = BUF_INIT;
	char **argv = qemu_argv(&spec);
	bool stream = false;

	for (size_t i = 0; argv[i]; i++) {
		buf_fmt(&all, "%s ", argv[i]);
		if (str_eq(argv[i], "-device"))
			buf_fmt(&devices, "%.*s ", (int)strcspn(argv[i + 1], ","), argv[i + 1]);
		if (str_eq(argv[i], "-netdev"))
			stream = str_eq(argv[i + 1], "stream,id=net,addr.type=fd,addr.str=22");
		else
			assert_false(str_starts(argv[i], "-net") || str_starts(argv[i], "-nic"));
	}
	assert_int_equal(stream, net >= 0);
	assert_string_equal(devices.data, want);
	assert_non_null(strstr(all.data, " -nodefaults "));
	assert_non_null(strstr(all.data, " -sandbox on,"));
	assert_non_null(strstr(all.data, "spawn=deny"));
	assert_non_null(strstr(all.data, "socket,id=fs1,fd=21 "));
	util_free_list(&argv);
}

TEST(qemu_gets_these_devices_and_no_other)
{
	qemu_gets_these_devices(-1, "virtio-serial-pci virtserialport virtserialport "
				    "vhost-user-fs-pci vhost-user-fs-pci ");
	qemu_gets_these_devices(22, "virtio-serial-pci virtserialport virtserialport "
				    "vhost-user-fs-pci vhost-user-fs-pci virtio-net-pci ");
}

/* By default QEMU stops a machine when the host's disk is full, and it never continues. */
TEST(a_guest_is_told_that_the_hosts_disk_is_full)
{
	const struct qemu_spec spec = {.program = "/q", .kernel = "k", .disk = 5, .net = -1};
	char **argv = qemu_argv(&spec);
	const char *disk = "";

	for (size_t i = 0; argv[i]; i++)
		if (str_starts(argv[i], "virtio-blk-pci"))
			disk = argv[i];
	assert_non_null(strstr(disk, ",werror=report,rerror=report"));
	util_free_list(&argv);
}

TEST(last_words_are_harmless_and_short)
{
	struct last_words w = {.text = BUF_INIT};
	char out[600], small[8];

	last_words_format(&w, out, sizeof(out));
	assert_string_equal(out, "");
	for (int i = 0; i < 1000; i++)
		last_words_add(&w, "line of the boot\r\n", 18);
	last_words_add(&w, "one\n\n  \x1b[2Jtwo\xe2\x80\xae\r\nthree", 24);
	last_words_format(&w, out, sizeof(out));
	assert_string_equal(out, "one | [2Jtwo | three");
	last_words_format(&w, small, sizeof(small));
	assert_string_equal(small, "one | [");
	assert_true(w.text.len <= 8192 + 64);
	last_words_add(&w, "\n[ 1.0] Kernel panic - not syncing: x\r\n[ 1.1] R13: 0\n", 53);
	last_words_format(&w, out, sizeof(out));
	assert_string_equal(out, "Kernel panic - not syncing: x");
	buf_done(&w.text);
}

TESTS(NULL, NULL)
