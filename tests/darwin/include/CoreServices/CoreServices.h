/* CoreServices - the parts of the SDK's headers for FSEvents that we use, for systems without
 * them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <dispatch/dispatch.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Enough to compile and link. The numbers of the flags are Apple's. Only a build on a Mac can check
 * that our own names for the flags of events (core/os/fsevents.h) have the same numbers. */
typedef unsigned char Boolean;
typedef long CFIndex;
typedef double CFTimeInterval;
typedef const void *CFTypeRef;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFArray *CFArrayRef;
typedef struct __CFArray *CFMutableArrayRef;
typedef struct {
	CFIndex version;
	const void *retain, *release, *copyDescription, *equal;
} CFArrayCallBacks;

extern const CFArrayCallBacks kCFTypeArrayCallBacks;

CFMutableArrayRef CFArrayCreateMutable(CFAllocatorRef allocator, CFIndex capacity,
				       const CFArrayCallBacks *callbacks);
void CFArrayAppendValue(CFMutableArrayRef array, const void *value);
CFStringRef CFStringCreateWithFileSystemRepresentation(CFAllocatorRef allocator, const char *text);
void CFRelease(CFTypeRef object);

typedef uint32_t FSEventStreamCreateFlags;
typedef uint32_t FSEventStreamEventFlags;
typedef uint64_t FSEventStreamEventId;
typedef struct __FSEventStream *FSEventStreamRef;
typedef const struct __FSEventStream *ConstFSEventStreamRef;

#define kFSEventStreamEventIdSinceNow 0xFFFFFFFFFFFFFFFFULL
enum {
	kFSEventStreamCreateFlagNoDefer = 0x2,
	kFSEventStreamCreateFlagWatchRoot = 0x4,
	kFSEventStreamCreateFlagFileEvents = 0x10,
	kFSEventStreamCreateFlagMarkSelf = 0x20,
};

typedef struct {
	CFIndex version;
	void *info;
	const void *(*retain)(const void *info);
	void (*release)(const void *info);
	CFStringRef (*copyDescription)(const void *info);
} FSEventStreamContext;

typedef void (*FSEventStreamCallback)(ConstFSEventStreamRef stream, void *info, size_t n,
				      void *paths, const FSEventStreamEventFlags *flags,
				      const FSEventStreamEventId *ids);

FSEventStreamRef FSEventStreamCreate(CFAllocatorRef allocator, FSEventStreamCallback callback,
				     FSEventStreamContext *context, CFArrayRef paths,
				     FSEventStreamEventId since, CFTimeInterval latency,
				     FSEventStreamCreateFlags flags);
void FSEventStreamSetDispatchQueue(FSEventStreamRef stream, dispatch_queue_t queue);
Boolean FSEventStreamStart(FSEventStreamRef stream);
void FSEventStreamFlushSync(FSEventStreamRef stream);
void FSEventStreamStop(FSEventStreamRef stream);
void FSEventStreamInvalidate(FSEventStreamRef stream);
void FSEventStreamRelease(FSEventStreamRef stream);
