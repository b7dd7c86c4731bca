/* test_reader - a confined reader reads files, writes to its descriptors, and can do nothing
 * else. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "tests/support/check.h"

static bool reads(void)
{
	int fd = open("/proc/version", O_RDONLY | O_CLOEXEC);
	char text[8];

	return fd >= 0 && read(fd, text, sizeof(text)) == sizeof(text) && close(fd) == 0;
}

/* Returns whether it may read other users' files. Root may, even in a directory that only its owner
 * may enter. */
static bool reads_others(void)
{
	int fd = open("theirs/file", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && close(fd) == 0;
}

static int make_theirs(void)
{
	const uid_t they = geteuid() == 0 ? 65534 : geteuid();
	int fd;

	if (mkdir("theirs", 0700) < 0)
		return -1;
	fd = open("theirs/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 || fchown(fd, they, (gid_t)-1) < 0 || close(fd) < 0
		       ? -1
		       : chown("theirs", they, (gid_t)-1);
}

static bool fails(int result)
{
	return result < 0;
}

/* Returns the names of calls that should not have succeeded, or "". */
static const char *beyond(void)
{
	char name[] = "true", *const argv[] = {name, NULL};

	if (!fails(open("new", O_WRONLY | O_CREAT, 0600)))
		return "a file was made";
	if (!fails(open("old", O_RDWR)))
		return "a file was opened for writing";
	if (!fails(open("old", O_RDONLY | O_TRUNC)))
		return "a file was emptied";
	if (!fails(unlink("old")))
		return "a file was removed";
	if (!fails(socket(AF_INET, SOCK_STREAM, 0)) || !fails(socket(AF_UNIX, SOCK_STREAM, 0)))
		return "a socket was made";
	if (!fails(kill(getppid(), 0)))
		return "a process was found";
	if (!fails(fork()))
		return "a process was made";
	if (!fails(execv("/bin/true", argv)))
		return "a program was run";
	return "";
}

TEST(it_reads_and_does_no_more)
{
	char dir[] = "/tmp/cordon-reader-XXXXXX", said[128] = "";
	struct err err = {0};
	int fds[2], status;
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(close(open("old", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
	assert_int_equal(make_theirs(), 0);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		const char *words = confine_reader(&err) < 0 ? err.text
				    : !reads()		     ? "nothing can be read"
				    : !reads_others()	     ? "not what belongs to others"
							     : beyond();

		_exit(write(fds[1], words, strlen(words)) < 0);
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(read(fds[0], said, sizeof(said) - 1) >= 0);
	assert_string_equal(said, "");
	assert_int_equal(status, 0);
	close(fds[0]);
	assert_int_equal(unlink("theirs/file"), 0);
	assert_int_equal(rmdir("theirs"), 0);
	assert_int_equal(unlink("old"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(dir), 0);
}

TESTS(NULL, NULL)
