/* test_door - the filter and the door, with real system calls from a small sandbox. */
/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "backends/linux/door/door.h"
#include "core/base/io.h"
#include "tests/support/check.h"
#include "tests/unit/fake_keeper.h"

/* A gateway would be watched by this; the test has none. */
int keeper_watch(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	(void)k, (void)fd, (void)fn, (void)data;
	return -ENOSYS;
}

/* ---- a box: everything read-only, a private /tmp, the filter, a command --------- */

struct box {
	struct door *door;
	pid_t pid;
	int pidfd;
};

/* Trees that the box may read if reads are trapped. */
static struct trees box_trees;

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "# box: %s: %s\n", what, strerror(errno));
	_exit(125);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd >= 0 && write(fd, text, strlen(text)) > 0, path);
	close(fd);
}

static void box_mounts(void)
{
	/* struct mount_attr, which not every C library has: attr_set is MOUNT_ATTR_RDONLY. */
	const uint64_t attr[4] = {1};
	uid_t uid = getuid();
	gid_t gid = getgid();
	char map[64];

	must(unshare(CLONE_NEWNS | (uid != 0 ? CLONE_NEWUSER : 0)) == 0, "unshare");
	if (uid != 0) {
		write_file("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%d %d 1", uid, uid);
		write_file("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "%d %d 1", gid, gid);
		write_file("/proc/self/gid_map", map);
	}
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "private");
	/* Makes everything read-only, so that a failing test cannot change this machine. */
	must(syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, attr, sizeof(attr)) == 0,
	     "read-only");
	must(mount("tmpfs", "/tmp", "tmpfs", 0, NULL) == 0, "/tmp");
}

static void box_child(int sock, const struct filter_spec *spec, const char *out, char *const argv[])
{
	int listener = -1;
	int fd;

	box_mounts();
	must(chdir(fake.folder.path) == 0, "chdir");
	if (out != NULL) {
		fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		must(fd >= 0 && dup2(fd, 1) == 1 && close(fd) == 0, "output");
	}
	umask(022);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (spec->reads) {
		struct landlock_spec rules = {.trees = box_trees.list, .n_trees = box_trees.n};
		int tmp = open("/", O_PATH | O_CLOEXEC);
		struct err err = {0};

		rules.writable = &tmp;
		rules.n = 1;
		must(landlock_restrict(&rules, &err) == 0, "Landlock");
	}
	must(filter_install(spec, &listener) == 0, "filter");
	must(io_send_fd(sock, "x", 1, listener) == 0, "listener");
	close(listener);
	close(sock);
	execvp(argv[0], argv);
	_exit(127);
}

static void box_start(struct box *b, const struct filter_spec *spec, const char *out,
		      char *const argv[])
{
	int pair[2], listener = -1, root;
	struct err err = {0};
	char byte, path[64];
	struct floor floor = {.trees = spec->reads ? &box_trees : NULL};

	assert_int_equal(filter_prepare(spec, &err), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	b->pid = fork();
	assert_true(b->pid >= 0);
	if (b->pid == 0) {
		close(pair[0]);
		box_child(pair[1], spec, out, argv);
	}
	close(pair[1]);
	assert_int_equal(io_recv_fd(pair[0], &byte, 1, &listener), 1);
	close(pair[0]);
	snprintf(path, sizeof(path), "/proc/%d/root", b->pid);
	root = open(path, O_PATH | O_CLOEXEC);
	assert_true(root >= 0);
	b->pidfd = (int)syscall(SYS_pidfd_open, b->pid, 0);
	b->door = door_new(&fake, listener, root, spec, &floor, &err);
	assert_non_null(b->door);
}

/* Runs one turn. Returns false if no process is left inside. */
static bool box_turn(struct box *b, int timeout)
{
	struct pollfd p[1 + FAKE_WATCH] = {{.fd = b->door->fd, .events = POLLIN}};
	int n;

	for (int i = 0; i < FAKE_WATCH; i++)
		p[1 + i] = (struct pollfd){.fd = fake.watch[i].fn != NULL ? fake.watch[i].fd : -1,
					   .events = POLLOUT};
	n = poll(p, ARRAY_LEN(p), fake.wake_at != 0 ? 5 : timeout);
	for (int i = 0; i < FAKE_WATCH; i++)
		if (p[1 + i].fd >= 0 && p[1 + i].revents != 0 && fake.watch[i].fn != NULL)
			fake.watch[i].fn(fake.watch[i].data);
	if (fake.wake_at != 0 && clock_mono_us() >= fake.wake_at) {
		fake.wake_at = 0;
		b->door->ops->tick(b->door);
	}
	return b->door->ops->serve(b->door, n > 0 ? p[0].revents : 0) == 0;
}

static int box_end(struct box *b)
{
	int status = 0;

	waitpid(b->pid, &status, 0);
	close(b->pidfd);
	b->door->ops->close(b->door);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int box_run(const struct filter_spec *spec, const char *out, char *const argv[])
{
	struct box b;

	box_start(&b, spec, out, argv);
	while (box_turn(&b, 1000))
		;
	return box_end(&b);
}

static int box_sh(const char *script)
{
	static const struct filter_spec spec;
	char sh[] = "/bin/sh", c[] = "-c";
	AUTO_FREE char *text = xstrdup(script);
	char *argv[] = {sh, c, text, NULL};

	return box_run(&spec, NULL, argv);
}

/* ---- tests ---------------------------------------------------------------------- */

static int folder_begin(const char *path)
{
	memset(&fake, 0, sizeof(fake));
	fake.keep = true;
	snprintf(fake.folder.path, sizeof(fake.folder.path), "%s", path);
	fake.folder.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fake.folder.fd < 0 ? -1 : 0;
}

static int setup(void **state)
{
	char path[] = "/dev/shm/cordon-door-XXXXXX", in[64];
	int fd;

	(void)state;
	if (mkdtemp(path) == NULL)
		return -1;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mkdirat(fd, "in", 0755) < 0 || mkdirat(fd, "out", 0755) < 0)
		return -1;
	close(openat(fd, "out/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	close(fd);
	snprintf(in, sizeof(in), "%s/in", path);
	return folder_begin(in);
}

static int teardown(void **state)
{
	(void)state;
	close(fake.folder.fd);
	*strrchr(fake.folder.path, '/') = '\0';
	for (size_t i = 0; i < fake.n_procs; i++)
		close(fake.procs[i].pidfd);
	return io_remove_tree(AT_FDCWD, fake.folder.path);
}

TEST(a_shell_works)
{
	struct stat st;

	assert_int_equal(box_sh("echo one > a && mkdir d && mv a d/b && cat d/b >/dev/null && "
				"ln -s d/b l && echo two >> l && chmod 640 d/b && ln d/b d/c && "
				"rm d/c && touch -d @1000 d/b && test $(wc -c < l) = 8"),
			 0);
	assert_int_equal(fstatat(fake.folder.fd, "d/b", &st, 0), 0);
	assert_int_equal(st.st_size, 8);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_mtime, 1000);
	assert_true(fake.execs > 0);
}

TEST(outside_is_read_only)
{
	assert_int_equal(box_sh("echo x > /tmp/t && chmod 600 /tmp/t && mv /tmp/t /tmp/u && "
				"ln -s $PWD/in /tmp/link && echo y > /tmp/link && "
				"cp /tmp/u up && test -s up && test -s in"),
			 0);
	assert_string_equal(fake.last_path, "up");
}

TEST(descriptors_lead_to_places)
{
	assert_int_equal(box_sh("exec 5>file; echo a >/dev/fd/5; echo b >>/proc/self/fd/5; "
				"test $(wc -l < file) = 2 || exit 1; rm file; echo c >&5; "
				"echo err >/dev/stderr; echo n >/dev/null"),
			 0);
}

TEST(the_filter_refuses)
{
	assert_int_not_equal(box_sh("unshare -Ur true 2>/dev/null"), 0);
	assert_int_not_equal(box_sh("mount -t tmpfs x /mnt 2>/dev/null"), 0);
	assert_int_not_equal(box_sh("chroot / true 2>/dev/null"), 0);
}

TEST(held_calls_are_performed_after_the_answer)
{
	static const struct filter_spec spec;
	char sh[] = "/bin/sh", c[] = "-c", text[] = "echo x > secret";
	char *argv[] = {sh, c, text, NULL};
	struct box b;
	struct stat st;

	fake.hold = "secret";
	box_start(&b, &spec, NULL, argv);
	while (fake.held == 0)
		assert_true(box_turn(&b, 1000));
	assert_int_equal(fstatat(fake.folder.fd, "secret", &st, 0), -1);
	b.door->ops->answered(b.door, fake.held, VERDICT_ALLOW);
	while (box_turn(&b, 1000))
		;
	assert_int_equal(box_end(&b), 0);
	assert_int_equal(fstatat(fake.folder.fd, "secret", &st, 0), 0);
}

/* A call held for another reason is judged again; a call refused because of its step gets EPERM. */
TEST(held_calls_can_be_tried_again_or_stopped)
{
	static const struct filter_spec spec;
	char sh[] = "/bin/sh", c[] = "-c",
	     text[] = "mkdir secret && mkdir stopped 2>&1 | grep -q 'not permitted'";
	char *argv[] = {sh, c, text, NULL};
	uint64_t held;
	struct box b;
	struct stat st;

	fake.hold = "secret";
	fake.held = 0;
	box_start(&b, &spec, NULL, argv);
	while (fake.held == 0)
		assert_true(box_turn(&b, 1000));
	held = fake.held;
	fake.held = 0;
	b.door->ops->answered(b.door, held, VERDICT_RETRY);
	assert_true(fake.held == held); /* not allowed yet */
	assert_int_equal(fstatat(fake.folder.fd, "secret", &st, 0), -1);
	fake.hold = "stopped";
	b.door->ops->answered(b.door, fake.held, VERDICT_RETRY);
	fake.held = 0;
	while (fake.held == 0)
		assert_true(box_turn(&b, 1000));
	assert_int_equal(fstatat(fake.folder.fd, "secret", &st, 0), 0);
	b.door->ops->answered(b.door, fake.held, VERDICT_STOP);
	while (box_turn(&b, 1000))
		;
	assert_int_equal(box_end(&b), 0);
	assert_int_equal(fstatat(fake.folder.fd, "stopped", &st, 0), -1);
}

TEST(a_swapped_directory_is_not_what_was_shown)
{
	static const struct filter_spec spec;
	char sh[] = "/bin/sh", c[] = "-c", text[] = "echo x > d/secret";
	char *argv[] = {sh, c, text, NULL};
	struct box b;
	struct stat st;

	assert_int_equal(mkdirat(fake.folder.fd, "d", 0755), 0);
	assert_int_equal(mkdirat(fake.folder.fd, "e", 0755), 0);
	fake.hold = "secret";
	box_start(&b, &spec, NULL, argv);
	while (fake.held == 0)
		assert_true(box_turn(&b, 1000));
	assert_int_equal(renameat(fake.folder.fd, "d", fake.folder.fd, "old"), 0);
	assert_int_equal(symlinkat("e", fake.folder.fd, "d"), 0);
	b.door->ops->answered(b.door, fake.held, VERDICT_ALLOW);
	while (box_turn(&b, 1000))
		;
	assert_int_not_equal(box_end(&b), 0);
	assert_int_equal(fstatat(fake.folder.fd, "e/secret", &st, 0), -1);
	assert_int_equal(fstatat(fake.folder.fd, "old/secret", &st, 0), -1);
}

/* ---- reading, where every open is trapped ---------------------------------------- */

/* Everything may be read except below "out", beside the folder. */
static void close_out(void)
{
	AUTO_FREE char *dir = xstrndup(fake.folder.path, strlen(fake.folder.path) - strlen("/in"));
	AUTO_FREE char *out = xasprintf("%s/out", dir);
	const char *const closed[] = {out, NULL};

	trees_done(&box_trees);
	trees_add(&box_trees, LANDLOCK_READ | LANDLOCK_EXEC, closed, NULL);
	trees_sort(&box_trees);
}

static void put(const char *path, const char *text)
{
	int fd = openat(fake.folder.fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int read_sh(const char *script)
{
	static const struct filter_spec spec = {.reads = true};
	char sh[] = "/bin/sh", c[] = "-c";
	AUTO_FREE char *text = NULL;
	char *argv[] = {sh, c, NULL, NULL};

	if (landlock_abi() < LANDLOCK_ABI_NEEDED)
		skip();
	argv[2] = text = xstrdup(script);
	close_out();
	fake.reads = 0;
	return box_run(&spec, NULL, argv);
}

TEST(granted_reads_are_the_floors)
{
	put("f", "text\n");
	assert_int_equal(read_sh("cat f ./f $PWD/f /dev/fd/3 3<f >/dev/null && ls . >/dev/null && "
				 "! cat none /none/x 2>/dev/null && echo x > /tmp/t && "
				 "test $(cat /tmp/t) = x && cat /proc/self/status >/dev/null"),
			 0);
	assert_int_equal(fake.reads, 0);
}

/* By whichever path it is reached, the question is about the real path. */
TEST(reads_are_asked_by_what_they_lead_to)
{
	static const char *const ways[] = {
		"cat ../out/file",
		"cat l",
		"cat d/file",
		"cd ../out && cat file",
		"cat /proc/self/cwd/../out/file",
		"cat /proc/self/root$(dirname $PWD)/out/file",
		"cat < ../out/file",
		"exec 3< ../out/file; cat /proc/self/fd/3 /dev/fd/3 <&3",
	};
	AUTO_FREE char *want = xasprintf(
		"%.*s/out/file", (int)(strlen(fake.folder.path) - strlen("/in")), fake.folder.path);

	put("../out/file", "shown\n");
	assert_int_equal(symlinkat("../out/file", fake.folder.fd, "l"), 0);
	assert_int_equal(symlinkat("../out", fake.folder.fd, "d"), 0);
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		AUTO_FREE char *right = xasprintf("test \"$(%s)\" = shown", ways[i]);
		AUTO_FREE char *wrong = xasprintf("out=$({ %s; } 2>&1); test $? != 0 && "
						  "case $out in *shown*) exit 1;; "
						  "*denied*) ;; *) exit 2;; esac",
						  ways[i]);

		fake.read_answer = -EACCES;
		assert_int_equal(read_sh(wrong), 0);
		assert_true(fake.reads > 0);
		assert_string_equal(fake.last_read, want);
		if (strstr(ways[i], "<&3") != NULL)
			continue; /* reported three times */
		fake.read_answer = 0;
		assert_int_equal(read_sh(right), 0);
	}
}

TEST(attributes_and_names_need_no_grant)
{
	fake.read_answer = -EACCES;
	assert_int_equal(read_sh("stat ../out/file >/dev/null && test -r ../out/file && "
				 "cd ../out && ! ls 2>/dev/null"),
			 0);
	assert_int_equal(fake.reads, 1);
	fake.read_answer = -ENOENT;
	assert_int_equal(read_sh("cat ../out/file 2>&1 | grep -q 'No such file'"), 0);
	put("../out/file", "#!/bin/sh\nexit 3\n");
	assert_int_equal(fchmodat(fake.folder.fd, "../out/file", 0755, 0), 0);
	fake.denied = 0;
	assert_int_equal(read_sh("../out/file 2>/dev/null; test $? = 126"), 0);
	assert_true(fake.denied > 0);
}

/* The descriptor is for the file that the question was about, even if its name was replaced
 * meanwhile. */
TEST(a_swapped_file_is_not_handed_over)
{
	static const struct filter_spec spec = {.reads = true};
	char sh[] = "/bin/sh", c[] = "-c", text[] = "test \"$(cat l)\" = shown";
	char *argv[] = {sh, c, text, NULL};
	struct box b;

	if (landlock_abi() < LANDLOCK_ABI_NEEDED)
		skip();
	close_out();
	put("../out/file", "shown\n");
	put("../out/other", "secret\n");
	assert_int_equal(symlinkat("../out/file", fake.folder.fd, "l"), 0);
	fake.read_answer = -FOLDER_HELD;
	fake.held = 0;
	box_start(&b, &spec, NULL, argv);
	while (fake.held == 0)
		assert_true(box_turn(&b, 1000));
	assert_string_equal(fake.last_via, "l");
	assert_int_equal(renameat(fake.folder.fd, "../out/other", fake.folder.fd, "../out/file"),
			 0);
	b.door->ops->answered(b.door, fake.held, VERDICT_RETRY); /* and is held again */
	b.door->ops->answered(b.door, fake.held, VERDICT_ALLOW);
	while (box_turn(&b, 1000))
		;
	assert_int_equal(box_end(&b), 0);
}

/* ---- with a program of our own inside ------------------------------------------- */

static void on_alarm(int sig)
{
	(void)sig;
}

/* With a thousand signals a second every call must happen exactly once. */
static int storm(void)
{
	struct itimerval timer = {{0, 700}, {0, 700}};
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < 4000; i++) {
		int fd = open("f", O_CREAT | O_EXCL | O_WRONLY, 0644);

		if (fd < 0 || close(fd) < 0 || mkdir("d", 0755) < 0 || rmdir("d") < 0 ||
		    rename("f", "g") < 0 || unlink("g") < 0) {
			perror("# storm");
			return 1;
		}
	}
	return 0;
}

/* One thread exchanges a name between a file here and one outside; the other opens it for
 * writing. */
static void *flip(void *arg)
{
	(void)arg;
	for (;;)
		renameat2(AT_FDCWD, "p", AT_FDCWD, "q", RENAME_EXCHANGE);
	return NULL;
}

static int swap(void)
{
	pthread_t thread;

	if (symlink("/tmp/../dev/shm/../../proc/self/cwd/../out/file", "p") < 0 ||
	    symlink("inner", "q") < 0 || pthread_create(&thread, NULL, flip, NULL) != 0)
		return 1;
	for (int i = 0; i < 5000; i++) {
		int fd = open("p", O_WRONLY | O_CREAT, 0644);
		struct stat st, inner;

		if (fd < 0)
			continue;
		if (fstat(fd, &st) < 0 || stat("inner", &inner) < 0 || st.st_ino != inner.st_ino)
			return 1;
		close(fd);
	}
	return 0;
}

/* The path in memory changes during the call. */
static char shared_path[64] = "safe";

static void *rewrite(void *arg)
{
	(void)arg;
	for (unsigned i = 0;; i++) {
		memcpy(shared_path, i % 2 ? "safe\0\0" : "../out\0", 7);
		atomic_thread_fence(memory_order_seq_cst); /* written in each round */
	}
	return NULL;
}

static int rewriting(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, rewrite, NULL) != 0)
		return 1;
	for (int i = 0; i < 5000; i++)
		if (chmod(shared_path, 0700 | (unsigned)i % 8) < 0 && errno != EROFS &&
		    errno != ENOENT)
			return 1;
	return 0;
}

static void *serve_one(void *arg)
{
	int s = accept(*(int *)arg, NULL, NULL);

	close(s);
	return NULL;
}

static int sockets(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "sock"};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);
	int flags = fcntl(c, F_GETFL);
	socklen_t len = sizeof(in);
	pthread_t thread;

	if (bind(s, (struct sockaddr *)&un, sizeof(un)) < 0 || listen(s, 1) < 0)
		return 1;
	for (int i = 0; i < 2; i++) /* the queue is full */
		if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&un, sizeof(un)) <
		    0)
			return 2;
	pthread_create(&thread, NULL, serve_one, &s);
	if (connect(c, (struct sockaddr *)&un, sizeof(un)) < 0 || fcntl(c, F_GETFL) != flags)
		return 3;
	strcpy(un.sun_path, "/proc/1/root/../run/none.sock");
	if (connect(c, (struct sockaddr *)&un, sizeof(un)) == 0)
		return 4;
	if (socket(AF_UNIX, SOCK_DGRAM, 0) >= 0 || errno != EACCES)
		return 5;
	s = socket(AF_INET, SOCK_STREAM, 0);
	c = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(s, (struct sockaddr *)&in, sizeof(in)) < 0 || listen(s, 1) < 0 ||
	    getsockname(s, (struct sockaddr *)&in, &len) < 0)
		return 6;
	if (connect(c, (struct sockaddr *)&in, sizeof(in)) < 0 || (fcntl(c, F_GETFL) & O_NONBLOCK))
		return 7;
	close(s);
	if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&in, sizeof(in)) == 0 ||
	    errno != ECONNREFUSED)
		return 8;
	return 0;
}

/* Calls that the filter must refuse, each with its errno. */
static int refusals(void)
{
	static const struct {
		long nr, a, b, c, code;
	} calls[] = {
		{SYS_unshare, CLONE_NEWUSER, 0, 0, EPERM},
		{SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, EPERM},
		{SYS_clone3, 0, 0, 0, ENOSYS},
		{SYS_setns, 0, 0, 0, EPERM},
		{SYS_io_uring_setup, 1, 0, 0, EPERM},
		{SYS_bpf, 0, 0, 0, EPERM},
		{SYS_open_by_handle_at, 0, 0, 0, EPERM},
		{SYS_keyctl, 0, 0, 0, EPERM},
		{SYS_personality, READ_IMPLIES_EXEC, 0, 0, EPERM},
		{SYS_personality, 0x80000000L, 0, 0, EPERM},
		{SYS_ioctl, 0, TIOCSTI, 0, EPERM},
		{SYS_ioctl, 0, (long)(0xabcd00000000UL | TIOCSTI), 0, EPERM},
		{SYS_socket, AF_PACKET, SOCK_RAW, 0, EAFNOSUPPORT},
		{SYS_socket, AF_ALG, SOCK_SEQPACKET, 0, EAFNOSUPPORT},
		{SYS_socket, 40, SOCK_STREAM, 0, EAFNOSUPPORT},
		{SYS_socket, AF_NETLINK, SOCK_RAW, 15, EPROTONOSUPPORT},
		{SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, EFAULT},
		{463, 0, 0, 0, ENOSYS},
		{9999, 0, 0, 0, ENOSYS},
#ifdef __x86_64__
		{400, 0, 0, 0, ENOSYS},
		{0x40000000L + SYS_openat, 0, 0, 0, ENOSYS},
#endif
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		if (syscall(calls[i].nr, calls[i].a, calls[i].b, calls[i].c, 0, 0) == -1 &&
		    errno == calls[i].code)
			continue;
		fprintf(stderr, "# call %zu (%ld): %s\n", i, calls[i].nr, strerror(errno));
		return 1;
	}
	if (personality(0xffffffff) < 0 || socket(AF_NETLINK, SOCK_RAW, 0) < 0)
		return 1;
	return 0;
}

/* Eight calls at the same moment; every second one uses the same name. */
#define TOGETHER 8

static atomic_int gone_off;

static void *make_one(void *arg)
{
	char name[] = "d0";
	int *result = arg;

	name[1] = (char)(name[1] + *result / 2);
	while (!gone_off)
		;
	*result = mkdir(name, 0755) < 0 ? errno : 0;
	return NULL;
}

static int together(void)
{
	pthread_t threads[TOGETHER];
	int result[TOGETHER], made = 0;

	for (int i = 0; i < TOGETHER; i++) {
		result[i] = i;
		if (pthread_create(&threads[i], NULL, make_one, &result[i]) != 0)
			return 1;
	}
	gone_off = 1;
	for (int i = 0; i < TOGETHER; i++) {
		pthread_join(threads[i], NULL);
		if (result[i] != 0 && result[i] != EEXIST)
			return 2;
		made += result[i] == 0;
	}
	return made == TOGETHER / 2 ? 0 : 3;
}

/* Handing over descriptors binds threads to one processor, which processes must not notice. */
static bool has_processors(const cpu_set_t *expected)
{
	cpu_set_t now;

	return sched_getaffinity(0, sizeof(now), &now) == 0 && CPU_EQUAL(&now, expected);
}

static int opens_keep(const cpu_set_t *expected)
{
	for (int i = 0; i < 2000; i++) {
		int fd = open("f", O_WRONLY | O_CREAT, 0644), status = 0;

		if (fd < 0 || !has_processors(expected) || close(fd) < 0)
			return 1;
		if (i % 100 != 0)
			continue;
		if (fork() == 0)
			_exit(!has_processors(expected));
		if (wait(&status) < 0 || status != 0)
			return 2;
	}
	return 0;
}

static int affinity(void)
{
	cpu_set_t all, one;
	int cpu = sched_getcpu(), r;

	if (cpu < 0 || sched_getaffinity(0, sizeof(all), &all) < 0)
		return 3;
	r = opens_keep(&all);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (r != 0 || sched_setaffinity(0, sizeof(one), &one) < 0)
		return r != 0 ? r : 4;
	return opens_keep(&one);
}

static const struct {
	const char *name;
	int (*run)(void);
} inside[] = {
	{"storm", storm},	{"swap", swap},		{"rewriting", rewriting},
	{"sockets", sockets},	{"refusals", refusals}, {"together", together},
	{"affinity", affinity},
};

/* Starts this program again in the box, as `test_door --inside NAME`. */
static void box_start_inside(struct box *b, const char *name)
{
	static const struct filter_spec spec;
	char self[PATH_MAX], flag[] = "--inside";
	AUTO_FREE char *copy = xstrdup(name);
	char *argv[] = {self, flag, copy, NULL};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	box_start(b, &spec, NULL, argv);
}

static int box_inside(const char *name)
{
	struct box b;

	box_start_inside(&b, name);
	while (box_turn(&b, 1000))
		;
	return box_end(&b);
}

TEST(signals_do_not_repeat_calls)
{
	assert_int_equal(box_inside("storm"), 0);
}

TEST(a_swapped_link_never_leads_out)
{
	assert_int_equal(box_inside("swap"), 0);
}

TEST(a_rewritten_path_is_copied_once)
{
	struct stat before, after;
	int fd = openat(fake.folder.fd, "safe", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	close(fd);
	assert_int_equal(fstatat(fake.folder.fd, "../out", &before, 0), 0);
	assert_int_equal(box_inside("rewriting"), 0);
	assert_int_equal(fstatat(fake.folder.fd, "../out", &after, 0), 0);
	assert_int_equal(before.st_mode, after.st_mode);
}

TEST(sockets_connect_where_they_may)
{
	assert_int_equal(box_inside("sockets"), 0);
}

TEST(refused_calls_have_their_errno)
{
	assert_int_equal(box_inside("refusals"), 0);
}

TEST(processors_stay_as_they_were)
{
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(box_inside("affinity"), 0);
	assert_true(has_processors(&before));
}

/* Returns how many threads of the process wait in mkdir(2). */
static size_t in_mkdir(pid_t pid)
{
#ifdef SYS_mkdir
	static const long calls[] = {SYS_mkdir, SYS_mkdirat};
#else
	static const long calls[] = {SYS_mkdirat};
#endif
	AUTO_DIR DIR *tasks = NULL;
	char path[320], text[128];
	const struct dirent *e;
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (e = readdir(tasks))) {
		AUTO_CLOSE int fd = -1;
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", pid, e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		text[MAX(len, 0)] = '\0';
		for (size_t i = 0; i < ARRAY_LEN(calls); i++)
			n += isdigit((unsigned char)text[0]) && strtol(text, NULL, 10) == calls[i];
	}
	return n;
}

TEST(calls_at_the_same_time_are_each_performed)
{
	struct box b;

	box_start_inside(&b, "together");
	while (fake.execs == 0)
		assert_true(box_turn(&b, 1000));
	while (in_mkdir(b.pid) < TOGETHER)
		usleep(1000);
	while (box_turn(&b, 1000))
		;
	assert_int_equal(box_end(&b), 0);
	assert_int_equal(fake.calls, TOGETHER);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && strcmp(argv[1], "--inside") == 0 && i < ARRAY_LEN(inside);
	     i++)
		if (strcmp(argv[2], inside[i].name) == 0)
			return inside[i].run();
	/* For use by hand: test_door FOLDER COMMAND... runs it in the box. */
	if (argc > 2) {
		static const struct filter_spec spec;

		if (folder_begin(argv[1]) < 0)
			return 125;
		return box_run(&spec, NULL, argv + 2);
	}
	return run_all(setup, teardown, NULL, NULL);
}
