/* door_priv - what the files of the system-call door share: requests, places, the table of calls.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "backends/linux/door/door.h"
#include "backends/linux/door/interrupts.h"
#include "backends/linux/net/gateway.h"
#include "core/keeper/folders/folder.h"
#include "core/keeper/keeper.h"

#ifndef SYS_fchmodat2 /* Linux 6.6 */
#define SYS_fchmodat2 452
#endif

struct flow_wait;
struct ldoor;
struct request;

/* What a handler returns besides 0, a value or a descriptor, and a negative errno of the caller's.
 */
#define DOOR_CONTINUE (-8000) /* the kernel goes on with the call: the floor answers it */
#define DOOR_NOTHING  (-8004) /* success, nothing to do */
#define DOOR_LATER    (-8001) /* the handler keeps the request and answers it itself */
#define DOOR_AGAIN    (-8002) /* the place changed under us: resolve once more */
#define DOOR_DEAD     (-8003) /* the caller is gone */

/* ---- the table (door_calls.c) --------------------------------------------------- */

/* How a path argument is turned into a place. */
enum how {
	HOW_NONE,
	HOW_NAME, /* a name in a directory, made, removed or moved: the last link is not followed */
	HOW_LINK, /* an object; the last symbolic link is not followed */
	HOW_OBJECT, /* an object; the last symbolic link is followed */
	HOW_FD,	    /* the object behind a descriptor number */
};

struct path_arg {
	enum how how;
	int dirfd; /* index of the argument, -1: the current directory */
	int path;  /* index of the argument */
};

/* Which calls are trapped at all: the filter is made from this column. */
enum when {
	WHEN_ALWAYS,
	WHEN_WRITES, /* the open flags in argument when_arg can write, create or truncate; all opens
		      * where reading is trapped */
	WHEN_W_OK,   /* the access mode in argument when_arg asks for W_OK */
	WHEN_DATAGRAM, /* the arguments ask for a datagram socket of AF_UNIX */
};

struct door_call {
	int nr;
	const char *name;
	struct path_arg path[2];
	/* Copy the other arguments, check flags, change how[] or answer at once; may be NULL. */
	int (*prepare)(struct ldoor *d, struct request *r);
	int (*perform)(struct ldoor *d, struct request *r);
	enum when when;
	int when_arg;
	bool anywhere; /* perform() also answers for places outside every folder */
};

extern const struct door_call door_calls[];
extern const size_t door_calls_len;

#define OPEN_WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

/* ---- a request (request.c) ------------------------------------------------------ */

/* Copies of the caller's memory, made once. Everything later looks at these alone. */
enum slot {
	SLOT_PATH,
	SLOT_PATH2,
	SLOT_EXTRA, /* times, open_how, an address, an attribute's name, a link's text */
	SLOT_VALUE, /* an attribute's value */
	SLOT_COUNT,
};

struct copy {
	char *data; /* NUL-terminated */
	size_t len;
	bool have;
};

/* A place in a folder, or a text that is outside of all. */
struct place {
	struct folder *folder; /* NULL: outside every folder */
	struct at at;
	bool known;   /* st describes the last component */
	bool recent;  /* at.dirfd is ldoor.recent's */
	bool kept;    /* seen may be changed as it is; nothing else has been looked up */
	bool object;  /* reached through a descriptor or a magic link, not by a name */
	bool orphan;  /* an open file without a name: at.dirfd is its O_PATH descriptor */
	bool gone;    /* resolving ended in a directory that was removed */
	bool special; /* outside and not a file at all: a pipe, a socket, a terminal */
	bool nested;  /* outside, on a mount that was made inside */
	struct stat st;
	int fd;	  /* owned: at.dirfd, when it is not borrowed */
	int seen; /* owned: the object through the caller's mounts, when the walk went there */
	char dir[PATH_MAX];
	char text[PATH_MAX]; /* outside: absolute, as the caller sees it */
	char walk[2][2 * PATH_MAX];
};

/* What was on the screen while a human decided: the same place, or the answer does not count. */
struct shown {
	dev_t dev;
	ino_t ino;
	char *text;
	struct stat object; /* of what is moved or linked; st_ino 0: nothing is */
};

struct request {
	uint64_t id;
	int tid;
	uint64_t args[6];
	const struct door_call *call;
	struct caller caller;
	struct copy slot[SLOT_COUNT];
	enum how how[2];
	int dirfd[2];
	int copied[2];	  /* 0, or why the path could not be copied */
	bool empty_ok[2]; /* AT_EMPTY_PATH */
	bool opath_ok;	  /* an O_PATH descriptor will do */
	unsigned resolve; /* RESOLVE_* of openat2 */
	bool slash;	  /* O_CREAT of "x/" */
	bool creates;	  /* O_CREAT: a trailing slash is EISDIR, in a link's text too */
	bool gives_fd;	  /* the result is a descriptor for the caller */
	bool reads;	  /* an open for reading that the floor would refuse */
	int opened;	/* owned: what is handed over, or connected to, once a human has allowed it;
			 * -1: nothing */
	bool resumed;	/* comes back from an answer; the copies are the first ones */
	bool cwd_known; /* for the second path of a call that has two */
	struct stat cwd;
	struct shown shown[2];
	int flags;
	mode_t mode;
	struct timespec times[2];
	struct place *place[2]; /* the door's scratch */
};

void request_begin(struct ldoor *d, struct request *r, const struct seccomp_notif *n);
/* Copy a path. 0, -EFAULT, -ENAMETOOLONG, DOOR_CONTINUE when the memory cannot be read at all. */
int request_path(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr);
/* Both paths of a call with one look; what this leaves out request_path() copies. */
void request_paths(struct request *r, const uint64_t addr[2]);
/* Copy a string of at most max bytes with its NUL; longer is -E2BIG. */
int request_text(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr, size_t max);
int request_mem(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr, size_t len);
/* Write to the caller's memory; -EFAULT. */
int request_write(const struct request *r, uint64_t addr, const void *data, size_t len);
/* 0, or DOOR_DEAD: tid may be somebody else's by now and nothing that was read counts. */
int request_alive(const struct ldoor *d, const struct request *r);
/* A duplicate of the caller's descriptor; -EBADF. */
int request_fd(struct ldoor *d, const struct request *r, int fd);
/* ---- requests that wait, answers that were lost (parked.c) ---------------------- */

struct parked *parked_new(struct request *r);
void parked_add(struct ldoor *d, struct request *r);	  /* copies what is needed */
struct parked *parked_take(struct ldoor *d, uint64_t id); /* NULL: not there */
void parked_load(struct ldoor *d, struct request *r, const struct parked *p);
void parked_free(struct parked *p);
void parked_tick(struct ldoor *d);
void lost_keep(struct ldoor *d, const struct request *r, int fd); /* takes fd; -1: result 0 */
bool lost_find(struct ldoor *d, struct request *r, int *ret);
void lost_drop(struct ldoor *d);

/* ---- calls that share a sync (gather.c) ------------------------------------------ */

bool gather_may(const struct ldoor *d);
void gather_add(struct ldoor *d, struct request *r); /* copies what is needed */
void gather_serve(struct ldoor *d);		     /* if it is time */
void gather_drop(struct ldoor *d);

/* ---- places (places.c, resolve.c, walk.c) --------------------------------------- */

/* Fill r->place[i] from how[i]; 0, negative errno, DOOR_CONTINUE or DOOR_DEAD. */
int place_resolve(struct ldoor *d, struct request *r, int i);
void place_done(struct place *p);
/* May a file that no name leads to be changed through its descriptor? */
bool place_orphan_is_kept(const struct request *r, const struct place *p);
/* What is there now, in a folder; a link is not followed. */
int place_stat(const struct place *p, struct stat *ret);
/* Without mounts: in the sandbox's own directory. */
bool place_is_own(const struct ldoor *d, const struct place *p);
/* folder_outside() about a place that is outside; 0: the floor answers. */
int place_outside(struct ldoor *d, const struct request *r, const struct place *p);
/* Absolute path of a place, for comparison and reports. */
void place_text(const struct place *p, char *out, size_t size);
/* Our directory for the same inode as st, which some process of the sandbox sees at `text`. */
int place_dir(struct ldoor *d, const struct stat *st, const char *text, struct folder **ret_folder,
	      int *ret_fd);
/* Fill a place from what the walk found: a directory of the caller's view and a name in it... */
int place_from_name(struct ldoor *d, struct place *p, int parent, const char *name);
/* ...or an object of its own (O_PATH or not); takes fd. */
int place_from_object(struct ldoor *d, struct place *p, int fd);
/* The same for a duplicate of the caller's descriptor: -EBADF for O_PATH where that will not do. */
int place_from_fd(struct ldoor *d, struct request *r, struct place *p, int fd);
/* Walk in the caller's view, component by component; start is owned. */
int walk_path(struct ldoor *d, struct request *r, int i, int start, const char *path);
/* O_PATH descriptor of the caller's own directory `dirfd` (AT_FDCWD: the current one). */
int walk_base(const struct request *r, int dirfd);
/* Of its "/": with nesting it may have another than the sandbox's. */
int walk_root(const struct ldoor *d, const struct request *r);
bool is_dots(const char *name, size_t len); /* "." or ".." */
bool is_plain(const char *path);	    /* every component is a name: no empty one, no dots */
/* O_PATH descriptor of a path without links, through the sandbox's mounts. */
int open_in_sandbox(const struct ldoor *d, const char *path);
int fd_text(const struct ldoor *d, int fd, char *out,
	    size_t size); /* readlink of our descriptor; length or negative */

/* ---- the door ------------------------------------------------------------------- */

struct dir_entry {
	dev_t dev;
	ino_t ino;
	struct folder *folder;
	int fd;	       /* -1: free */
	bool borrowed; /* the folder's own */
	uint64_t used, serial;
	char *text; /* absolute; see read_text() */
	int64_t text_us;
	uint64_t renames;
};

struct proc_entry {
	int tid, fd; /* O_PATH of /proc/TID; -1: free */
};

/* The parent directory that was opened last, by the directory and the path it was opened from. */
struct recent {
	int fd; /* -1: none */
	struct folder *folder;
	uint64_t base, renames;
	int64_t at_us;
	char parent[PATH_MAX], dir[PATH_MAX];
};

/* Where paths of reads begin, in the caller's mounts (look.c): by name, or by what it is. */
#define BASES 8
struct base {
	int fd; /* O_PATH; -1: free */
	char name[32];
	uint64_t mnt, ino;
	dev_t dev;
	bool open; /* the floor lets all below be read */
	char *text;
	int64_t at_us;
	uint64_t renames;
};

struct parked {
	struct parked *next;
	uint64_t id;
	int tid;
	uint64_t args[6];
	const struct door_call *call;
	struct copy slot[SLOT_COUNT];
	struct shown shown[2];
	bool outside;
	bool granted; /* by the human, before something else held it */
	int opened;   /* owned; see struct request */
	int flags;
	struct interrupt interrupt;
};

/* A connect() that has not come to its end: two descriptors of ours, and some are tried again. */
#define PENDING_MAX 256
struct pending {
	struct pending *next;
	struct ldoor *d;
	uint64_t id;
	int tid;
	int sock; /* our duplicate */
	int peer; /* O_PATH of a socket file whose queue was full: tried again by the clock; -1: not
		   */
	int flags;		    /* of the open file, to be restored */
	int64_t until_us;	    /* SO_SNDTIMEO; 0: for ever */
	struct sockaddr_storage to; /* the address, copied */
	size_t to_len;
	struct interrupt interrupt;
};

/* A socket file in a working folder that was bound inside (calls_peer.c); ino 0: none. */
#define OWN_SOCKETS 1024
struct own_socket {
	uint64_t dev, ino;
	int64_t born_s;
	uint32_t born_ns;
};

/* An open() that waits for the reader of a FIFO (calls_fifo.c). */
#define FIFOS_MAX 256
struct fifo_wait {
	struct fifo_wait *next;
	uint64_t id;
	int tid;
	int fifo;  /* O_PATH */
	int flags; /* the caller's */
	struct interrupt interrupt;
};

/* An answer whose caller was interrupted before it arrived: handed over when it asks again. */
struct lost {
	int tid, nr, flags;
	uint64_t args[6];
	int fd; /* the result, or -1: it was 0 */
	int64_t at_us;
};

/* Who has called lately (answer.c). */
#define CALLERS 8
struct callers {
	struct {
		int tid;
		int64_t us;
	} last[CALLERS];
	size_t at;
	int64_t together_us; /* when two of them called by turns */
	bool may_near;	     /* Linux 6.6 */
	bool near;	     /* the listener's flag */
	int nice;	     /* our own */
};

#define DIR_CACHE  64
#define PROC_CACHE 64
#define PRIVATE	   5
#define LOST	   16
#define PARKED_MAX (GUARD_HELD + 2048) /* what the keeper parks is counted there */

struct ldoor {
	struct door door;
	struct keeper *k;
	struct filter_spec spec;
	struct floor floor;
	int root; /* O_PATH of the sandbox's / */
	struct stat root_st;
	dev_t proc_dev;		    /* of the sandbox's /proc; 0 when it has none */
	dev_t private_dev[PRIVATE]; /* of /tmp, /dev/shm... where sockets may be connected to */
	bool wait_killable;
	struct callers callers;
	int self_fd; /* O_PATH of our /proc/self/fd */
	uint64_t clock, renames;
	struct proc_entry procs[PROC_CACHE];
	struct dir_entry dirs[DIR_CACHE];
	size_t last_dir; /* where dir_find() begins */
	struct recent recent;
	struct base bases[BASES];
	struct parked *parked;
	size_t parked_len;
	int64_t sweep_at;     /* when their callers are looked after next */
	struct parked *later; /* oldest first (gather.c) */
	size_t later_len;
	bool gathered; /* they are served now */
	struct pending *pending;
	size_t pending_len;
	struct gateway *gateway; /* owned; NULL: connections are not decided on by host */
	struct flow_wait *flows;
	size_t flows_len;
	uint64_t last_dial;
	struct port *ports; /* that somebody listens on, or that are published (ports.c) */
	size_t n_ports;
	int64_t look_at;   /* for listeners, next; 0: not */
	int64_t look_wait; /* and again after it */
	struct own_socket own[OWN_SOCKETS]; /* the oldest gives way */
	size_t own_next;
	struct fifo_wait *fifos;
	size_t fifos_len;
	struct lost lost[LOST];
	size_t lost_next;
	struct request now;
	struct place places[2];
	struct seccomp_notif *in;
	struct seccomp_notif_resp *out;
	size_t in_size, out_size;
	char paths[2][PATH_MAX + 1];
	char extra[PATH_MAX + 1];
	char value[XATTR_SIZE_MAX + 1];
};

int door_granted(int got);
const struct door_call *door_call_of(int nr); /* NULL: not trapped */
void door_dispatch(struct ldoor *d, struct request *r, bool granted);
void door_finish(struct ldoor *d, struct request *r, int got);

/* ---- answers (answer.c) --------------------------------------------------------- */

void answer_begin(struct ldoor *d);
/* A thread has called, before its answer. */
void answer_caller(struct ldoor *d, int tid);
/* Answer a request: result as a handler returns it. */
void door_answer(struct ldoor *d, uint64_t id, int result);
/* The same; -ENOENT: nobody waits any more. */
int answer_send(struct ldoor *d, uint64_t id, int result);
/* Hand over a descriptor, with the close-on-exec that flags ask for, to a thread that goes on where
 * we are; tid 0: anywhere. False: nobody waits any more, and fd stays ours; else it is closed here.
 */
bool door_give(struct ldoor *d, uint64_t id, int tid, int flags, int fd);
/* A copy of fd for the caller, which still waits; its number there, or negative errno. */
int door_add(struct ldoor *d, uint64_t id, int flags, int fd);

/* Our directories (places.c): known by inode; where one is now; a path beneath one without links.
 */
#define TEXT_US 5000
struct dir_entry *dir_find(struct ldoor *d, dev_t dev, ino_t ino);
int set_dir_text(struct ldoor *d, struct place *p, struct dir_entry *e);
int open_beneath(int dirfd, const char *path, uint64_t flags);

/* ---- handlers (calls_*.c) ------------------------------------------------------- */

#define HANDLER(name) int name(struct ldoor *d, struct request *r)
HANDLER(prepare_open);
HANDLER(prepare_openat2);
HANDLER(perform_open);
HANDLER(perform_fifo);
int open_may_continue(const struct ldoor *d, const struct request *r); /* or an errno */
HANDLER(prepare_truncate);
HANDLER(perform_truncate);

HANDLER(perform_mkdir);
HANDLER(prepare_mknod);
HANDLER(perform_mknod);
HANDLER(prepare_unlinkat);
HANDLER(perform_unlink);
HANDLER(perform_rmdir);
HANDLER(prepare_rename);
HANDLER(perform_rename);
HANDLER(prepare_link);
HANDLER(perform_link);
HANDLER(prepare_symlink);
HANDLER(perform_symlink);

HANDLER(prepare_chmod);
HANDLER(perform_chmod);
HANDLER(prepare_chown);
HANDLER(perform_chown);
HANDLER(prepare_times);
HANDLER(perform_times);
HANDLER(prepare_xattr);
HANDLER(perform_setxattr);
HANDLER(perform_removexattr);
HANDLER(prepare_access);
HANDLER(perform_access);
HANDLER(prepare_fstatfs);
HANDLER(perform_statfs);

HANDLER(prepare_datagram);
HANDLER(prepare_pair);
HANDLER(prepare_bind);
HANDLER(perform_bind);
HANDLER(prepare_connect);
HANDLER(prepare_listen);
HANDLER(perform_connect);
HANDLER(prepare_exec);
HANDLER(prepare_umask);

/* Addresses (calls_socket.c): copied into SLOT_EXTRA; one of AF_UNIX with a name in the file system
 * becomes the request's path. */
int socket_address(struct ldoor *d, struct request *r);
bool socket_pathname(struct request *r);
int socket_family(int sock, int *family);
/* Whom a socket may be connected to (calls_peer.c): r->opened becomes the O_PATH descriptor of the
 * socket file. 0, -FOLDER_HELD, other negatives. */
int peer_find(struct ldoor *d, struct request *r);
/* No such socket file is shown; who looked for one of the host's that is known, the human hears of.
 */
void peer_absent(struct ldoor *d, struct request *r);
void peer_bound(struct ldoor *d, const struct place *p); /* that one is the agent's own */
void peer_answered(struct ldoor *d, const struct parked *p, enum door_verdict verdict, int *opened);
int connect_opened(struct ldoor *d, struct request *r); /* to r->opened, as perform_connect() */

/* Opening for reading (calls_read.c). prepare: DOOR_CONTINUE where the floor answers rightly. */
HANDLER(prepare_read);
HANDLER(perform_read);
/* The human has answered, or what held it is over. */
void read_answered(struct ldoor *d, const struct parked *p, enum door_verdict verdict, int *opened);
/* A program is about to be run: if the floor will refuse it, say why. */
void read_tell_exec(struct ldoor *d, struct request *r, int dirfd, const char *path);
/* One look where every open is trapped (look.c): does the floor answer this one rightly? */
bool look_floor_answers(struct ldoor *d, const struct request *r);
bool look_may_read(const struct ldoor *d, const char *text); /* a path without links */
/* What the path leads to, in the caller's own mounts: O_PATH, or negative errno. */
int look_open(struct ldoor *d, const struct request *r, int dirfd, const char *path, int flags);
void look_tick(struct ldoor *d);
void look_drop(struct ldoor *d);
/* /proc/TID, kept open: a dead one never becomes another's (resolve.c). */
int proc_dir(struct ldoor *d, int tid, bool again);

/* Changes of an object that are not a folder's business, or that need no capture (calls_meta.c). */
typedef int (*on_fd)(struct request *r, int fd);
int change_direct(struct ldoor *d, struct request *r, on_fd change, int *ret);

/* connect() to a host (calls_flow.c). flow_answered: was this request one of those? */
int flow_connect(struct ldoor *d, struct request *r, int sock);
bool flow_answered(struct ldoor *d, uint64_t id, enum door_verdict verdict);
void flow_open(struct ldoor *d);
void flow_tick(struct ldoor *d);
void flow_end_one(struct ldoor *d, uint64_t id); /* that connection */
void flow_drop(struct ldoor *d);		 /* what waits is refused */
void flow_close(struct ldoor *d);
/* Ports inside (ports.c): offered when somebody listens, shown on the host's loopback when asked for.
 */
void port_publish(struct ldoor *d, uint16_t port, uint16_t host_port);
void port_heard(struct ldoor *d, const struct net_note *note); /* NET_PUBLISHED, NET_CAME */
void port_ready(struct ldoor *d, int code); /* the relay serves, or does not */
void port_tick(struct ldoor *d);
void port_drop(struct ldoor *d);
/* connect our duplicate of a socket, to peer (O_PATH of a socket file) or the address in
 * SLOT_EXTRA; what the caller gets, DOOR_LATER where it has to wait. */
int connect_now(struct ldoor *d, struct request *r, int sock, int peer);

void connect_tick(struct ldoor *d); /* those that wait: try again, time is up, a signal */
void connect_drop(struct ldoor *d);
void fifo_tick(struct ldoor *d); /* has a reader come? */
void fifo_drop(struct ldoor *d);
