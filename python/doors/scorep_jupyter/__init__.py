"""The Score-P kernel's package name, for scripts that install it under that name; it provides Timeloom's kernel."""
