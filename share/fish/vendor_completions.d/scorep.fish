# fish completion of scorep; made by scripts/pages/command_pages.py
complete -c scorep -l version -d 'Print the version of Score-P whose conventions are followed, 8.4.'
complete -c scorep -l help -d 'Print this help; also -h.'
