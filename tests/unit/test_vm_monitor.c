/* test_vm_monitor - the monitor, between a test as the keeper and a script as QEMU. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/vm/monitor/guest_word.h"
#include "backends/vm/monitor/monitor.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "tests/support/check.h"

#define WAIT_MS 30000
#define FLOOD	200000 /* lines of 29 bytes */

/* The ports' numbers are in its arguments, like QEMU's. */
static const char head[] = "#!/bin/bash\n"
			   "for a; do\n"
			   "	case $a in\n"
			   "	socket,id=control,fd=*) control=${a##*=} ;;\n"
			   "	socket,id=console,fd=*) console=${a##*=} ;;\n"
			   "	socket,id=qmp,fd=*) qmp=${a##*=} ;;\n"
			   "	esac\n"
			   "done\n"
			   "control() { printf '%s\\n' \"$1\" >&$control; }\n"
			   "heard() { until read -r line <&$1 && [[ $line == *\"$2\"* ]]; do "
			   "[[ $line ]] || exit 9; done; }\n";
static const char starts[] = "control '{\"type\":\"ready\"}'\n"
			     "heard $control '\"exec\"'\n"
			     "control '{\"type\":\"step_started\",\"id\":1,\"pid\":57}'\n";

static struct {
	char dir[64];
	char *program;
	pid_t pid;
	int sock, words, life[2];
} self;

static void write_program(const char *before, const char *after)
{
	AUTO_FREE char *text = xasprintf("%s%s%s", head, before, after);

	assert_int_equal(io_write_file(AT_FDCWD, self.program, 0700, text, strlen(text), false), 0);
}

/* The script is `before`, the common part, and `after`; the child owns no heap memory. */
static void begin(const char *before, const char *after, int boot_seconds)
{
	static const char *const argv[] = {"true", NULL}, *const env[] = {NULL};
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawn_spec spawn = {.argv = argv,
				   .env = env,
				   .cwd = "/",
				   .stdio = {null, null, null},
				   .lifeline = self.life[0]};
	const struct monitor_spec spec = {.spec = &spawn,
					  .qemu = {.program = self.program,
						   .memory = (int64_t)128 << 20,
						   .cpus = 1,
						   .kernel = self.program,
						   .disk = -1,
						   .disk_read = -1,
						   .net = -1},
					  .initrd = "",
					  .boot_seconds = boot_seconds};
	struct err err = {0};

	write_program(before, after);
	self.pid = monitor_start(&spec, &self.sock, &self.words, &err);
	assert_true(self.pid > 0);
}

static int setup(void **state)
{
	AUTO_FREE char *bin = NULL;

	(void)state;
	snprintf(self.dir, sizeof(self.dir), "/tmp/test_vm_monitor.XXXXXX");
	assert_non_null(mkdtemp(self.dir));
	bin = path_join(self.dir, "bin");
	self.program = path_join(bin, "qemu");
	self.sock = self.words = -1;
	return mkdir(bin, 0755) < 0 || pipe2(self.life, O_CLOEXEC) < 0;
}

static int teardown(void **state)
{
	(void)state;
	if (self.pid > 0) {
		kill(self.pid, SIGKILL);
		waitpid(self.pid, NULL, 0);
	}
	self.pid = 0;
	util_close_fd(&self.sock);
	util_close_fd(&self.words);
	util_close_fd(&self.life[0]);
	util_close_fd(&self.life[1]);
	free(self.program);
	return io_remove_tree(AT_FDCWD, self.dir);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, WAIT_MS) == 1;
}

static struct note hear_note(int kind)
{
	struct note note;

	assert_true(is_readable(self.sock));
	assert_int_equal(child_message_recv(self.sock, &note, NULL, 0), 1);
	if (note.kind != kind)
		print_error("%s\n", note.text);
	assert_int_equal(note.kind, kind);
	return note;
}

static void go(void)
{
	struct note note = {.kind = NOTE_GO};

	assert_int_equal(child_message_send(self.sock, &note, NULL, 0), 0);
	hear_note(NOTE_READY);
}

static struct guest_word hear_word(int kind)
{
	struct guest_word w;
	ssize_t n;

	assert_true(is_readable(self.words));
	n = read(self.words, &w, sizeof(w));
	assert_true(n > 0 && guest_word_fits(&w, (size_t)n));
	assert_int_equal(w.kind, kind);
	return w;
}

static void say_word(int kind, int pid)
{
	const struct guest_word w = {.kind = kind, .pid = pid};
	struct pollfd p = {.fd = self.words, .events = POLLOUT};

	while (write(self.words, &w, WORD_HEAD) < 0) {
		assert_int_equal(errno, EAGAIN);
		assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	}
}

static int ended(void)
{
	int status;

	assert_int_equal(waitpid(self.pid, &status, 0), self.pid);
	self.pid = 0;
	return status;
}

TEST(a_guest_that_does_not_start_is_given_up)
{
	struct note note;

	begin("",
	      "printf 'first\\r\\n\\033[2Jwaiting for a root\\r\\n' >&$console\nexec sleep 600\n",
	      2);
	note = hear_note(NOTE_FAILED);
	assert_string_equal(note.text, "the virtual machine did not start within 2 s: its last "
				       "words: first | [2Jwaiting for a root");
	assert_int_equal(note.status, 125);
	assert_int_equal(ended(), 125 << 8);
}

/* A silent one is reported, too. */
TEST(nor_does_silence_hold_it)
{
	begin("", "exec sleep 600\n", 1);
	assert_string_equal(hear_note(NOTE_FAILED).text,
			    "the virtual machine did not start within 1 s");
	assert_int_equal(ended(), 125 << 8);
}

/* A stopped machine that is told to end continues first, as it would not see the order. */
TEST(what_stands_still_can_be_ended)
{
	static const char stands[] =
		"heard $qmp '\"stop\"'\n"
		"printf '{\"event\":\"RESUME\"}\\n{\"event\":\"STOP\"}\\n{\"event\":\"STOP\"}\\n' "
		">&$qmp\n"
		"for i in 1 2 3; do heard $qmp '\"query-status\"'; "
		"printf '{\"return\":{\"status\":\"paused\"}}\\n' >&$qmp; done\n"
		"heard $qmp '\"cont\"'\n"
		"printf '{\"event\":\"RESUME\"}\\n' >&$qmp\n"
		"heard $control '\"sig\":15'\n"
		"control '{\"type\":\"step_completed\",\"id\":1,\"exit_code\":0,\"signal\":15}'\n"
		"heard $control '\"shutdown\"'\n";
	int status;

	begin(starts, stands, 60);
	go();
	assert_int_equal(hear_word(WORD_AGENT).pid, 57);
	say_word(WORD_HOLD, 0);
	assert_int_equal(hear_word(WORD_STANDS).status, 1);
	assert_int_equal(kill(self.pid, SIGTERM), 0);
	status = ended();
	assert_int_equal(status, SIGTERM);
}

/* QEMU stops a processor that cannot continue, and waits for ever. */
TEST(a_machine_that_cannot_go_on_has_ended)
{
	static const char stops[] =
		"printf '{\"event\":\"STOP\"}\\n' >&$qmp\n"
		"heard $qmp '\"query-status\"'\n"
		"printf '{\"return\":{\"status\":\"internal-error\"}}\\n' >&$qmp\n"
		"exec sleep 600\n";

	begin(starts, stops, 60);
	go();
	assert_string_equal(hear_note(NOTE_FAILED).text,
			    "the virtual machine cannot go on: QEMU says internal-error");
	assert_int_equal(ended(), 125 << 8);
}

static long pages(pid_t pid)
{
	AUTO_FREE char *name = xasprintf("/proc/%d/statm", pid), *text = NULL;
	size_t len;
	long size = 0, resident = 0;

	assert_int_equal(io_read_file(AT_FDCWD, name, 4096, &text, &len), 0);
	assert_int_equal(sscanf(text, "%ld %ld", &size, &resident), 2);
	return resident;
}

/* Messages that a guest does not read are not stored without limit. */
TEST(a_guest_that_does_not_listen_costs_nothing)
{
	long before;

	begin(starts, "exec sleep 600\n", 60);
	go();
	hear_word(WORD_AGENT);
	before = pages(self.pid);
	for (int i = 0; i < FLOOD; i++)
		say_word(WORD_WHO, (1 << 22) - 1);
	say_word(WORD_HOLD, 0); /* the last one that is read */
	assert_true(pages(self.pid) - before < (3 << 20) / sysconf(_SC_PAGESIZE));
}

TESTS(setup, teardown)
