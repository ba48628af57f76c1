# For fish: spark-reconcile completion fish >~/.config/fish/completions/spark-reconcile.fish
complete -c spark-reconcile -a '(spark-reconcile __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
