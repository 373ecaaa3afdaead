# NixOS: one question on a timer. The hardened unit is the plain file that every other distribution uses; this fills in
# what is local. Secrets stay outside the store: they are named, never read.
self:
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.services.pi-sql;
  program = "${cfg.package}/bin/pi-sql";
  outside = path: !(lib.hasPrefix builtins.storeDir path);
in
{
  options.services.pi-sql = {
    enable = lib.mkEnableOption "a question to a SQLite replica on a timer";
    package = lib.mkOption {
      type = lib.types.package;
      default = self.packages.${pkgs.stdenv.hostPlatform.system}.default;
      defaultText = lib.literalExpression "the flake's own package";
      description = "The package with the program and its units.";
    };
    database = lib.mkOption {
      type = lib.types.str; # not `path`: that would copy the replica into the store
      example = "/srv/replica/app.db";
      description = "The database. It is only ever read.";
    };
    question = lib.mkOption {
      type = lib.types.str;
      example = "how many accounts churned last month?";
      description = "What is asked.";
    };
    onCalendar = lib.mkOption {
      type = lib.types.str;
      default = "Mon 06:00";
      description = "When, as systemd.time(7) has it.";
    };
    groups = lib.mkOption {
      type = lib.types.listOf lib.types.str;
      default = [ ];
      example = [ "replica" ];
      description = "Groups that let it read the database.";
    };
    environmentFile = lib.mkOption {
      type = lib.types.nullOr lib.types.str; # not `path`, as above
      default = null;
      example = "/run/keys/pi-sql.env";
      description = "A file of NAME=VALUE lines with the model's key, readable by root alone.";
    };
    modelAddresses = lib.mkOption {
      type = lib.types.listOf lib.types.str;
      default = [ ];
      example = [ "192.0.2.1" ];
      description = "Addresses of a model elsewhere. Without any there is no network at all.";
    };
  };

  config = lib.mkIf cfg.enable {
    assertions = [
      {
        assertion = outside cfg.database;
        message = "services.pi-sql.database must not lie in the world-readable Nix store";
      }
      {
        assertion = cfg.environmentFile == null || outside cfg.environmentFile;
        message = "services.pi-sql.environmentFile must not lie in the world-readable Nix store";
      }
    ];
    systemd.packages = [ cfg.package ];
    systemd.services.pi-sql = {
      # The plain unit waits for a file of settings; here they are below.
      unitConfig.ConditionPathExists = [ "" ];
      environment = {
        PI_SQL_DB = cfg.database;
        QUESTION = cfg.question;
      };
      serviceConfig = {
        # An empty value first: it takes away what the plain unit says.
        ExecStart = [ "" "${program} -- \${QUESTION}" ];
        ExecPaths = [ "" program ];
        EnvironmentFile = [ "" ] ++ (if cfg.environmentFile == null then [ ] else [ cfg.environmentFile ]);
        SupplementaryGroups = cfg.groups;
      } // (if cfg.modelAddresses == [ ] then { } else {
        PrivateNetwork = false;
        RestrictAddressFamilies = [ "AF_INET" "AF_INET6" ];
        IPAddressAllow = cfg.modelAddresses;
      });
    };
    systemd.timers.pi-sql = {
      wantedBy = [ "timers.target" ];
      timerConfig.OnCalendar = [ "" cfg.onCalendar ];
    };
  };
}
