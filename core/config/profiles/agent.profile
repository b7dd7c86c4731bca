; agent - what every agent looks at when it starts, besides the tool chains.
[profile]
	summary = what every coding agent needs
	inherits = tools
[rule "the way to the folder"]
	; which names there are in the directories that hold the folder, and in the home folder: agents look
	; for a repository, for instructions and for their settings there. What those files say is asked for.
	allow = read $ABOVE
	allow = read ~
