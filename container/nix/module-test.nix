# The NixOS module, evaluated: on, off, with a model elsewhere, and with secrets where they must not be.
{ runCommand, lib, self }:

let
  anything = lib.mkOption {
    type = lib.types.attrsOf lib.types.anything;
    default = { };
  };
  # The few NixOS options the module sets.
  nixos = {
    options = {
      assertions = lib.mkOption {
        type = lib.types.listOf lib.types.anything;
        default = [ ];
      };
      systemd = {
        packages = lib.mkOption {
          type = lib.types.listOf lib.types.anything;
          default = [ ];
        };
        services = anything;
        timers = anything;
      };
    };
    config._module.args.pkgs.stdenv.hostPlatform.system = "x86_64-linux";
  };
  evaluate = settings: (lib.evalModules { modules = [ self.nixosModules.default nixos { services.pi-sql = settings; } ]; }).config;
  package = runCommand "package" { } ''mkdir "$out"'';
  settings = {
    enable = true;
    inherit package;
    database = "/srv/replica/app.db";
    question = "how many accounts?";
  };
  broken = config: map (check: check.message) (builtins.filter (check: !check.assertion) config.assertions);

  off = evaluate { };
  on = evaluate settings;
  online = evaluate (settings // { environmentFile = "/run/keys/pi-sql.env"; modelAddresses = [ "192.0.2.1" ]; });
  leaky = evaluate (settings // { environmentFile = "${builtins.storeDir}/secret"; database = "${builtins.storeDir}/app.db"; });

  holds = {
    "off means nothing" = off.systemd.services == { } && off.systemd.timers == { } && off.systemd.packages == [ ];
    "the program is the package's" = on.systemd.services.pi-sql.serviceConfig.ExecStart == [ "" "${package}/bin/pi-sql -- \${QUESTION}" ];
    "nothing else may be executed" = on.systemd.services.pi-sql.serviceConfig.ExecPaths == [ "" "${package}/bin/pi-sql" ];
    "the question and the database arrive" = on.systemd.services.pi-sql.environment == { PI_SQL_DB = "/srv/replica/app.db"; QUESTION = "how many accounts?"; };
    "no network without a model elsewhere" = !(on.systemd.services.pi-sql.serviceConfig ? PrivateNetwork);
    "a network with one" = online.systemd.services.pi-sql.serviceConfig.PrivateNetwork == false;
    "keys come from their file" = online.systemd.services.pi-sql.serviceConfig.EnvironmentFile == [ "" "/run/keys/pi-sql.env" ];
    "the timer runs" = on.systemd.timers.pi-sql.wantedBy == [ "timers.target" ];
    "nothing is wrong with good settings" = broken on == [ ] && broken online == [ ];
    "the store is refused for secrets and data" = builtins.length (broken leaky) == 2;
  };
  failed = builtins.filter (name: !holds.${name}) (builtins.attrNames holds);
in
if failed == [ ] then
  runCommand "module" { } ''touch "$out"''
else
  throw "the NixOS module fails: ${builtins.concatStringsSep "; " failed}"
