/* accel - tests whether a virtual processor runs here. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/vm/qemu/qemu.h"
#include "core/base/io.h"
#include "core/os/signals.h"

#define DEADLINE_MS 5000
#define ROM_SIZE    65536

/*
 * Makes a ROM whose first instructions, at the reset vector, load an empty interrupt table and
 * raise an interrupt. The processor cannot handle it (a triple fault), the machine resets, and
 * QEMU, run with -no-reboot, ends with status 0.
 */
static int make_rom(void)
{
	static const unsigned char code[] = {0x0f, 0x01, 0x1e, 0x00, 0x00, /* lidt [0] */
					     0xcc};			   /* int3 */
	int fd = memfd_create("rom", MFD_CLOEXEC);

	if (fd >= 0 && (ftruncate(fd, ROM_SIZE) < 0 ||
			io_pwrite_all(fd, code, sizeof(code), ROM_SIZE - 16) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static NORETURN void run(const char *program, const char *name, int rom, int words)
{
	static const char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	AUTO_FREE char *bios = xasprintf("/proc/self/fd/%d", rom);
	bool kvm = str_eq(name, "kvm");
	const char *const argv[] = {program,
				    "-nodefaults",
				    "-no-user-config",
				    "-no-reboot",
				    "-display",
				    "none",
				    "-accel",
				    name,
				    "-cpu",
				    kvm ? "host" : "max",
				    "-machine",
				    "q35",
				    "-m",
				    "16",
				    "-bios",
				    bios,
				    NULL};
	struct err err = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	os_signals_usual();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, 0);
	dup2(words, 1);
	dup2(words, 2);
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	fcntl(rom, F_SETFD, 0);
	if (chdir("/") < 0)
		_exit(125);
	if (qemu_confine(program, program, kvm, &err) == 0) {
		execve(program, (char **)(uintptr_t)argv, (char **)(uintptr_t)env);
		err_set(&err, -errno, "run '%s'", program);
	}
	dprintf(2, "%s\n", err.text);
	_exit(125);
}

/* Reads the first line of QEMU's messages. */
static void read_words(int fd, char *why, size_t size)
{
	ssize_t n = pread(fd, why, size - 1, 0);

	why[MAX(n, 0)] = '\0';
	why[strcspn(why, "\n")] = '\0';
}

static bool wait_for(pid_t pid, char *why, size_t size)
{
	AUTO_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int status = -1, r;

	do
		r = poll(&p, 1, DEADLINE_MS);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		snprintf(why, size, "the processor does not start within %d s", DEADLINE_MS / 1000);
	if (r <= 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return r > 0 && status == 0;
}

bool accel_works(const char *program, const char *name, char *why, size_t size)
{
	AUTO_CLOSE int rom = -1;
	AUTO_CLOSE int words = -1;
	pid_t pid;
	bool ok;

	*why = '\0';
	if (str_eq(name, "kvm") && access("/dev/kvm", R_OK | W_OK) < 0) {
		snprintf(why, size, "/dev/kvm: %s", strerror(errno));
		return false;
	}
	rom = make_rom();
	words = memfd_create("words", MFD_CLOEXEC);
	pid = rom < 0 || words < 0 ? -1 : fork();
	if (pid == 0)
		run(program, name, rom, words);
	if (pid < 0) {
		snprintf(why, size, "%s", strerror(errno));
		return false;
	}
	ok = wait_for(pid, why, size);
	if (!ok && !*why)
		read_words(words, why, size);
	if (!ok && !*why)
		snprintf(why, size, "QEMU was ended by a signal");
	return ok;
}
