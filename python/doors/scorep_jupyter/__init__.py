"""The name that the Score-P kernel has, for scripts that install it so; Timeloom's kernel takes its place."""
