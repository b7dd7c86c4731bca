/* fsfuzz - random file calls from a seed, one line of facts per call: equal natively and inside. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/fsfuzz.h"

/*
 * fsfuzz SEED N DIR: N random calls inside DIR (which must be empty), then the whole tree. Every
 * line depends on the seed and on the calls' results, never on inode numbers, addresses or the
 * clock: the output of two runs in different places must be equal. Some calls are made by a helper
 * process or thread, one at a time.
 */
/* ---- calls ---------------------------------------------------------------------- */

static int arg_open_flags(void)
{
	static const int access[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR};
	static const int extra[] = {
		O_CREAT,  O_CREAT,	     O_CREAT | O_EXCL, O_TRUNC,	   O_APPEND,
		0,	  O_CREAT | O_TRUNC, O_DIRECTORY,      O_NOFOLLOW, O_CREAT | O_NOFOLLOW,
		O_NOATIME};
	int f = access[roll(4)] | extra[roll(LEN(extra))] | O_NONBLOCK;

	if (one_in(20))
		f |= O_PATH;
	if (one_in(3))
		f |= O_CLOEXEC;
	say(" %o", f);
	return f;
}

static void call_open(void)
{
	int dir, flags, fd;
	const char *p;
	mode_t mode;

	switch (roll(4)) {
	case 0:
		say("open");
		p = arg_path(0);
		flags = arg_open_flags();
		mode = arg_mode();
#ifdef SYS_open
		fd = (int)syscall(SYS_open, p, flags, mode);
#else
		fd = openat(AT_FDCWD, p, flags, mode);
#endif
		break;
	case 1: {
		static const unsigned resolves[] = {0,
						    RESOLVE_BENEATH,
						    RESOLVE_IN_ROOT,
						    RESOLVE_NO_SYMLINKS,
						    RESOLVE_NO_MAGICLINKS,
						    RESOLVE_NO_XDEV,
						    1u << 30};
		struct open_how how = {0};
		size_t size;

		say("openat2");
		dir = arg_dir();
		p = arg_path(0);
		how.flags = (unsigned)arg_open_flags();
		if (!(how.flags & O_ACCMODE)) /* inside there is none for reading */
			how.flags |= O_RDWR;
		if (how.flags & O_CREAT)
			how.mode = arg_mode();
		how.resolve = resolves[roll(LEN(resolves))];
		say(" r%llx", (unsigned long long)how.resolve);
		size = one_in(20) ? sizeof(how) - 8 : sizeof(how);
		/* During a rename anywhere on the machine, ".." below a root may be EAGAIN
		 * (openat2(2)). */
		for (int k = 0; k < 1000; k++) {
			fd = (int)syscall(SYS_openat2, dir, p, &how, size);
			if (fd >= 0 || errno != EAGAIN)
				break;
		}
		break;
	}
	case 2:
		say("tmpfile");
		dir = arg_dir();
		p = arg_path(0);
		mode = arg_mode();
		fd = openat(dir, p, O_TMPFILE | (one_in(6) ? O_RDONLY : O_RDWR), mode);
		break;
	default:
		say("openat");
		dir = arg_dir();
		p = arg_path(0);
		flags = arg_open_flags();
		mode = arg_mode();
		fd = openat(dir, p, flags, mode);
		break;
	}
	result(fd >= 0 ? 0 : -1);
	if (fd >= 0) {
		struct stat st;

		if (fstat(fd, &st) == 0)
			facts(&st);
	}
	keep_fd(fd);
}

static void call_make(void)
{
	const char *p, *q;
	int dir;
	mode_t mode;
	long r;

	switch (roll(6)) {
	case 0:
		say("mkdir");
		p = arg_path(0);
		mode = arg_mode() | 0700;
		r = mkdir(p, mode);
		break;
	case 1:
		say("mkdirat");
		dir = arg_dir();
		p = arg_path(0);
		mode = arg_mode() | 0700;
		r = mkdirat(dir, p, mode);
		break;
	case 2: {
		static const mode_t kinds[] = {S_IFREG, S_IFIFO, S_IFSOCK, S_IFDIR, 0, S_IFLNK};
		mode_t kind = kinds[roll(LEN(kinds))];

		say("mknodat %o", kind);
		dir = arg_dir();
		p = arg_path(0);
		mode = arg_mode();
		r = mknodat(dir, p, kind | mode, 0);
		break;
	}
	case 3:
		say("symlink");
		p = arg_path(0);
		q = arg_path(1);
		r = symlink(p, q);
		break;
	case 4:
		say("symlinkat");
		p = arg_path(0);
		dir = arg_dir();
		q = arg_path(1);
		r = symlinkat(p, dir, q);
		break;
	default: {
		static const int flags[] = {0, 0, AT_SYMLINK_FOLLOW, 1};
		int flag = flags[roll(LEN(flags))];
		int to;

		say("linkat %x", flag);
		dir = arg_dir();
		p = arg_path(0);
		to = arg_dir();
		q = arg_path(1);
		r = linkat(dir, p, to, q, flag);
		break;
	}
	}
	result(r);
}

static void call_remove(void)
{
	const char *p;
	int dir, flag;
	long r;

	switch (roll(3)) {
	case 0:
		say("unlink");
		p = arg_path(0);
		r = unlink(p);
		break;
	case 1:
		say("rmdir");
		p = arg_path(0);
		r = rmdir(p);
		break;
	default:
		flag = one_in(2) ? AT_REMOVEDIR : one_in(20) ? 1 : 0;
		say("unlinkat %x", flag);
		dir = arg_dir();
		p = arg_path(0);
		r = unlinkat(dir, p, flag);
		break;
	}
	result(r);
}

static void call_rename(void)
{
	static const unsigned flags[] = {0, 0, 1, 2, 3, 8};
	const char *p, *q;
	int from, to;
	long r;

	if (one_in(2)) {
		say("rename");
		p = arg_path(0);
		q = arg_path(1);
		r = rename(p, q);
	} else {
		unsigned flag = flags[roll(LEN(flags))];

		say("renameat2 %x", flag);
		from = arg_dir();
		p = arg_path(0);
		to = arg_dir();
		q = arg_path(1);
		r = syscall(SYS_renameat2, from, p, to, q, flag);
	}
	result(r);
}

static void call_mode(void)
{
	static const int flags[] = {0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 1};
	const char *p = NULL;
	int dir = AT_FDCWD, flag = 0;
	mode_t mode;
	long r;

	switch (roll(3)) {
	case 0:
		say("chmod");
		p = arg_path(0);
		mode = arg_mode();
		r = chmod(p, mode | keep_mode());
		break;
	case 1:
		say("fchmod");
		dir = arg_object();
		mode = arg_mode();
		r = fchmod(dir, mode | keep_mode());
		result(r);
		if (r == 0)
			facts_of(dir, "", AT_EMPTY_PATH);
		return;
	default:
		flag = flags[roll(LEN(flags))];
		say("fchmodat2 %x", flag);
		dir = arg_dir();
		p = arg_path(0);
		mode = arg_mode();
		r = syscall(SYS_fchmodat2, dir, p, mode | keep_mode(), flag);
		break;
	}
	result(r);
	if (r == 0)
		facts_of(dir, p, flag & AT_EMPTY_PATH);
}

static void call_owner(void)
{
	static const int flags[] = {0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH,
				    AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, 1};
	bool root = getuid() == 0;
	uid_t uid = one_in(2) ? (uid_t)-1 : getuid();
	gid_t gid = one_in(2) ? (gid_t)-1 : root && one_in(2) ? 1001 : getgid();
	const char *p;
	int dir, flag;
	long r;

	switch (roll(4)) {
	case 0:
		say("chown %d %d", (int)uid, (int)gid);
		p = arg_path(0);
		r = chown(p, uid, gid);
		break;
	case 1:
		say("lchown %d %d", (int)uid, (int)gid);
		p = arg_path(0);
		r = lchown(p, uid, gid);
		break;
	case 2:
		say("fchown %d %d", (int)uid, (int)gid);
		r = fchown(arg_object(), uid, gid);
		break;
	default:
		flag = flags[roll(LEN(flags))];
		say("fchownat %x %d %d", flag, (int)uid, (int)gid);
		dir = arg_dir();
		p = arg_path(0);
		r = fchownat(dir, p, uid, gid, flag);
		break;
	}
	result(r);
}

static void call_times(void)
{
	static const long nsec[] = {0, 1, 999999999, UTIME_NOW, UTIME_OMIT, 1000000000, -1};
	static const int flags[] = {0, 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 1};
	struct timespec ts[2];
	struct timeval tv[2];
	struct utimbuf ub;
	const char *p;
	int dir, flag;
	long r;

	for (int i = 0; i < 2; i++) {
		ts[i] = (struct timespec){(time_t)roll(90000), nsec[roll(LEN(nsec))]};
		tv[i] = (struct timeval){ts[i].tv_sec, one_in(10) ? 1000000 : (long)roll(1000000)};
	}
	switch (roll(4)) {
	case 0:
		say("utimensat %lld.%ld", (long long)ts[1].tv_sec, ts[1].tv_nsec);
		flag = flags[roll(LEN(flags))];
		dir = arg_dir();
		p = arg_path(0);
		say(" %x", flag);
		r = utimensat(dir, p, one_in(8) ? NULL : ts, flag);
		break;
	case 1:
		say("futimens %lld.%ld", (long long)ts[1].tv_sec, ts[1].tv_nsec);
		dir = arg_object();
		r = futimens(dir, ts);
		break;
	case 2:
		say("utimes");
		p = arg_path(0);
#ifdef SYS_utimes
		r = syscall(SYS_utimes, p, one_in(8) ? NULL : tv);
#else
		r = utimes(p, one_in(8) ? NULL : tv);
#endif
		break;
	default:
		say("utime");
		p = arg_path(0);
		ub = (struct utimbuf){ts[0].tv_sec, ts[1].tv_sec};
#ifdef SYS_utime
		r = syscall(SYS_utime, p, &ub);
#else
		r = utime(p, &ub);
#endif
		break;
	}
	result(r);
}

static void call_xattr(void)
{
	static const char *const attrs[] = {"user.a", "user.b", "nospace", ""};
	const char *attr = attrs[roll(4) == 0 ? roll(LEN(attrs)) : roll(2)];
	int flags = (int)roll(4);
	size_t size = one_in(30) ? 70000 : roll(60);
	static char value[70000];
	const char *p;
	long r;

	say("xattr %s", attr);
	switch (roll(6)) {
	case 0:
		say(" set %zu %d", size, flags);
		p = arg_path(0);
		r = setxattr(p, attr, value, size, flags);
		break;
	case 1:
		say(" lset %zu %d", size, flags);
		p = arg_path(0);
		r = lsetxattr(p, attr, value, size, flags);
		break;
	case 2:
		say(" fset %zu %d", size, flags);
		r = fsetxattr(arg_object(), attr, value, size, flags);
		break;
	case 3:
		say(" remove");
		p = arg_path(0);
		r = removexattr(p, attr);
		break;
	case 4:
		say(" lremove");
		p = arg_path(0);
		r = lremovexattr(p, attr);
		break;
	default:
		say(" fremove");
		r = fremovexattr(arg_object(), attr);
		break;
	}
	result(r);
}

static void call_ask(void)
{
	static const int modes[] = {W_OK, R_OK | W_OK, W_OK | X_OK, F_OK, 8 | W_OK};
	static const int flags[] = {0, AT_EACCESS, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 1};
	int mode = modes[roll(LEN(modes))];
	struct statfs fs = {0};
	const char *p;
	int dir, flag;
	long r;

	switch (roll(4)) {
	case 0:
		say("access %d", mode);
		p = arg_path(0);
		r = access(p, mode);
		break;
	case 1:
		flag = flags[roll(LEN(flags))];
		say("faccessat2 %d %x", mode, flag);
		dir = arg_dir();
		p = arg_path(0);
		r = syscall(SYS_faccessat2, dir, p, mode, flag);
		break;
	case 2:
		say("statfs");
		p = arg_path(0);
		r = statfs(p, &fs);
		break;
	default:
		say("fstatfs");
		dir = arg_fd();
		/* Pipes and files of /proc are equal everywhere; only the folder matters. */
		r = fstatfs(dir, &fs);
		break;
	}
	result(r);
	if (r == 0 && fs.f_type != 0)
		say(" t%lx fl%lx", (long)fs.f_type, (long)fs.f_flags & 1);
}

static void call_size(void)
{
	off_t size = one_in(20) ? -1 : (off_t)roll(5000);
	const char *p;
	long r;
	int fd;

	switch (roll(3)) {
	case 0:
		say("truncate %lld", (long long)size);
		p = arg_path(0);
		r = truncate(p, size);
		break;
	case 1:
		say("ftruncate %lld", (long long)size);
		r = ftruncate(arg_fd(), size);
		break;
	default:
		say("write");
		fd = arg_fd();
		r = write(fd, top, 1 + roll(20));
		if (r >= 0)
			r = 1; /* the length depends on top */
		break;
	}
	result(r);
}

static void call_socket(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	char p[4096];
	int s, c;
	long r;

	say("bind");
	path(p, sizeof(p) - 400);
	if (p[0] == '/' || strlen(p) >= sizeof(un.sun_path) || p[0] == '\0')
		snprintf(p, sizeof(p), "sock");
	say_path(p);
	strcpy(un.sun_path, p);
	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	r = bind(s, (struct sockaddr *)&un, sizeof(un));
	result(r);
	if (r == 0 && listen(s, 4) == 0) {
		c = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		say(" connect");
		result(connect(c, (struct sockaddr *)&un, sizeof(un)));
		close(c);
	}
	close(s);
	c = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	say(" again");
	result(connect(c, (struct sockaddr *)&un, sizeof(un)));
	close(c);
}

static void call_where(void)
{
	const char *p;
	mode_t mask;

	switch (roll(4)) {
	case 0:
		mask = roll(8) * 011 & 077;
		say("umask %o", mask);
		result(umask(mask));
		break;
	case 1:
		say("chdir");
		p = arg_path(0);
		result(chdir(p));
		break;
	case 2:
		say("home");
		result(chdir(top));
		break;
	default: {
		int fd;

		say("opendir");
		p = arg_path(0);
		fd = open(p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		result(fd < 0 ? -1 : 0);
		keep_fd(fd);
		break;
	}
	}
}

/* Gives a file without a name a name. */
static void call_materialize(void)
{
	char link[64];
	const char *q;
	struct stat st = {0};
	char text[4096];
	int i = (int)roll(FDS);
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fds[i]);
	n = readlink(link, text, sizeof(text) - 1);
	if (n > 10 && memcmp(text + n - 10, " (deleted)", 10) == 0 &&
	    ((fcntl(fds[i], F_GETFL) & O_ACCMODE) == O_RDONLY ||
	     (fstat(fds[i], &st) == 0 && !S_ISREG(st.st_mode)))) {
		say("lost #%d", i);
		return;
	}
	switch (roll(4)) {
	case 0:
		say("linkfd #%d", i);
		q = arg_path(1);
		result(linkat(AT_FDCWD, link, AT_FDCWD, q, AT_SYMLINK_FOLLOW));
		break;
	case 1: {
		int fd;

		say("reopen #%d", i);
		fd = open(link, O_RDWR | O_NONBLOCK | (one_in(4) ? O_TRUNC : 0));
		result(fd < 0 ? -1 : 0);
		keep_fd(fd);
		break;
	}
	case 2:
		say("chmodfd #%d", i);
		result(chmod(link, arg_mode() | keep_mode()));
		break;
	default:
		say("truncfd #%d", i);
		result(truncate(link, roll(100)));
		break;
	}
}

/* ".." must stay inside DIR, where the rules are equal. A deleted directory is fine. */
static void stay_inside(void)
{
	char where[4096];

	if (getcwd(where, sizeof(where)) == NULL)
		return;
	if (strncmp(where, floor_dir, strlen(floor_dir)) != 0 && chdir(top) == 0)
		say(" back");
}

static void call_any(void)
{
	static void (*const calls[])(void) = {
		call_open, call_open,	call_open,   call_make,	  call_make,
		call_make, call_remove, call_remove, call_rename, call_rename,
		call_mode, call_owner,	call_times,  call_xattr,  call_ask,
		call_size, call_where,	call_where,  call_socket, call_materialize,
	};

	calls[roll(LEN(calls))]();
	stay_inside();
}

/* ---- callers --------------------------------------------------------------------------------- */

static void *in_thread(void *arg)
{
	(void)arg;
	call_any();
	return NULL;
}

/* The child's state of the generator and its line come back; its directory and umask do not. */
static void in_child(void)
{
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		exit(2);
	pid = fork();
	if (pid == 0) {
		call_any();
		if (write(pipe_fds[1], &seed, sizeof(seed)) != sizeof(seed) ||
		    write(pipe_fds[1], line, sizeof(line)) != sizeof(line))
			_exit(1);
		_exit(0);
	}
	close(pipe_fds[1]);
	if (read(pipe_fds[0], &seed, sizeof(seed)) != sizeof(seed))
		exit(2);
	for (size_t got = 0; got < sizeof(line);) {
		ssize_t n = read(pipe_fds[0], line + got, sizeof(line) - got);

		if (n <= 0)
			exit(2);
		got += (size_t)n;
	}
	close(pipe_fds[0]);
	waitpid(pid, NULL, 0);
}

static void one_call(unsigned i)
{
	pthread_t thread;

	line[0] = '\0';
	if (one_in(40)) {
		say("T ");
		if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
			exit(2);
		pthread_join(thread, NULL);
	} else if (one_in(40)) {
		say("P ");
		in_child();
	} else {
		call_any();
	}
	printf("%u %s\n", i, line);
}

/* Makes a deep directory to start from. */
static int make_depth(void)
{
	snprintf(top, sizeof(top), "%s", base);
	for (int i = 0; i < DEPTH; i++) {
		strcat(top, "/u");
		if (mkdir(top, 0755) < 0 && errno != EEXIST)
			return -1;
		if (i == DEPTH / 2)
			snprintf(floor_dir, sizeof(floor_dir), "%s", top);
	}
	return chdir(top);
}

int main(int argc, char **argv)
{
	char *resolved;
	unsigned n;

	if (argc != 4) {
		fprintf(stderr, "usage: fsfuzz SEED N DIR\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	n = (unsigned)strtoul(argv[2], NULL, 0);
	resolved = realpath(argv[3], NULL);
	if (!resolved || snprintf(base, sizeof(base), "%s", resolved) >= (int)sizeof(base) ||
	    make_depth() < 0) {
		perror(argv[3]);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	umask(022);
	/* Only its own files and directories: root's calls on others would reach the host. */
	for (int i = 0; i < FDS; i++) {
		int fd = i % 2 ? open(top, O_RDONLY | O_CLOEXEC)
			       : open("first", O_RDWR | O_CREAT | O_CLOEXEC, 0644);

		fds[i] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
		close(fd);
		if (fds[i] < 0)
			return 2;
	}
	for (unsigned i = 0; i < n; i++)
		one_call(i);
	if (chdir("/") < 0)
		return 2;
	show_tree();
	return 0;
}
